// Makes Python's byte code files independent of file times.
#ifndef BELLJAR_CONTAINER_IMAGE_BYTE_CODE_H_
#define BELLJAR_CONTAINER_IMAGE_BYTE_CODE_H_

#include <cstdint>
#include <optional>
#include <string>

namespace belljar::container::image {

struct SourceStamp {
  uint32_t modified = 0;  // seconds since 1970, their lower 32 bits
  uint32_t size = 0;      // bytes, likewise
};

// "cpython-311": the part of its name that marks it as belonging to the interpreter of
// kPythonVersion.
std::string CacheTag();

// `byte_code`, marked so that the interpreter uses it without checking the source (PEP 552,
// "unchecked"): in an image every file has the same time, and byte code that does not match its
// source would be compiled again at every start. nullopt: it does not belong to the source with
// that stamp, or is not byte code.
std::optional<std::string> UncheckedByteCode(std::string byte_code, const SourceStamp& source);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_BYTE_CODE_H_
