// Mapping: owns one shared mapping of a memfd (Boost.Interprocess mapped_region).
#ifndef BELLJAR_ENGINE_CORE_MAPPING_H_
#define BELLJAR_ENGINE_CORE_MAPPING_H_

#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>

#include "engine/core/result.h"

namespace belljar::core {

class Mapping {
 public:
  Mapping() = default;
  // Maps the first `size` bytes of `memory_fd` for reading and writing.
  static Result<Mapping> Map(int memory_fd, size_t size);

  std::byte* data() const { return static_cast<std::byte*>(region_.get_address()); }
  size_t size() const { return region_.get_size(); }

 private:
  boost::interprocess::mapped_region region_;
};

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_MAPPING_H_
