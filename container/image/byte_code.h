// Python's byte code files, made independent of the times of files.
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

// "cpython-311": the part of its name by which the interpreter of kPythonVersion knows its own.
std::string CacheTag();

// `byte_code` marked as what the interpreter takes without a look at the source (PEP 552,
// "unchecked"): in an image every file has the same time, and code that seems to be of another
// source would be compiled again at every start. Nothing: it is not of the source with that stamp,
// or no byte code.
std::optional<std::string> UncheckedByteCode(std::string byte_code, const SourceStamp& source);

}  // namespace belljar::container::image

#endif  // BELLJAR_CONTAINER_IMAGE_BYTE_CODE_H_
