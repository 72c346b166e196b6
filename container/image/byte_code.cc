#include "container/image/byte_code.h"

#include <algorithm>
#include <string_view>

#include "engine/host/version.h"

namespace belljar::container::image {
namespace {

// PEP 552: magic number, flags, and then either the source's time and size or its hash; 32-bit
// numbers, little-endian.
constexpr size_t kPycHeaderSize = 16;
constexpr size_t kFlagsAt = 4;
constexpr size_t kTimeAt = 8;
constexpr size_t kSizeAt = 12;
constexpr uint32_t kByTime = 0;
constexpr uint32_t kUnchecked = 1;  // by hash, without checking it

uint32_t Read(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 4; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

}  // namespace

std::string CacheTag() {
  const std::string_view version = host::kPythonVersion;
  const size_t first = version.find('.');
  const size_t second = version.find('.', first + 1);
  return "cpython-" + std::string(version.substr(0, first)) +
         std::string(version.substr(first + 1, second - first - 1));
}

std::optional<std::string> UncheckedByteCode(std::string byte_code, const SourceStamp& source) {
  if (byte_code.size() < kPycHeaderSize) return std::nullopt;
  const uint32_t flags = Read(byte_code, kFlagsAt);
  if (flags == kUnchecked) return byte_code;
  // By checked hash: only the interpreter can tell whether it matches the source.
  if (flags != kByTime) return std::nullopt;
  if (Read(byte_code, kTimeAt) != source.modified || Read(byte_code, kSizeAt) != source.size) {
    return std::nullopt;
  }
  byte_code[kFlagsAt] = static_cast<char>(kUnchecked);
  std::fill_n(byte_code.begin() + kTimeAt, kPycHeaderSize - kTimeAt, '\0');
  return byte_code;
}

}  // namespace belljar::container::image
