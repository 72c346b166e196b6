#include "engine/core/mapping.h"

#include <boost/interprocess/exceptions.hpp>

namespace belljar::core {
namespace {

namespace ipc = boost::interprocess;

// The interface that mapped_region requires.
class BorrowedMemory {
 public:
  explicit BorrowedMemory(int fd) : handle_{fd, false} {}
  ipc::mapping_handle_t get_mapping_handle() const { return handle_; }

 private:
  ipc::mapping_handle_t handle_;
};

}  // namespace

Result<Mapping> Mapping::Map(int memory_fd, size_t size) {
  try {
    Mapping mapping;
    mapping.region_ = ipc::mapped_region(BorrowedMemory(memory_fd), ipc::read_write, 0, size);
    return mapping;
  } catch (const ipc::interprocess_exception& failure) {
    return SystemErrorOf(failure.get_native_error(), "map shared memory");
  }
}

}  // namespace belljar::core
