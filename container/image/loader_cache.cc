#include "container/image/loader_cache.h"

#include <cstdint>
#include <cstring>
#include <optional>

namespace belljar::container::image {
namespace {

constexpr std::string_view kOldMagic = "ld.so-1.7.0";
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";

// glibc's struct cache_file_new and struct file_entry_new; numbers in this machine's byte order.
constexpr size_t kCacheHeaderSize = 48;
constexpr size_t kCountAt = 20;
constexpr size_t kEntrySize = 24;
constexpr size_t kNameAt = 4;
constexpr size_t kPathAt = 8;
constexpr size_t kCapabilitiesAt = 16;

// The older format: a padded magic of 12 bytes, a count, and entries of three numbers. What follows
// is aligned like the entries of the newer format.
constexpr size_t kOldHeaderSize = 16;
constexpr size_t kOldEntrySize = 12;
constexpr size_t kAlignment = 8;

template <typename Number>
Number Read(std::string_view bytes, size_t at) {
  Number number;
  memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// Offsets are relative to the start of the newer part.
std::optional<std::string> TextAt(std::string_view bytes, uint32_t at) {
  if (at >= bytes.size()) return std::nullopt;
  const size_t end = bytes.find('\0', at);
  if (end == bytes.npos) return std::nullopt;
  return std::string(bytes.substr(at, end - at));
}

std::string_view NewPart(std::string_view bytes) {
  if (!bytes.starts_with(kOldMagic) || bytes.size() < kOldHeaderSize) return bytes;
  const uint64_t entries = Read<uint32_t>(bytes, kOldHeaderSize - sizeof(uint32_t));
  const uint64_t end = kOldHeaderSize + entries * kOldEntrySize;
  const uint64_t aligned = (end + kAlignment - 1) / kAlignment * kAlignment;
  return aligned < bytes.size() ? bytes.substr(aligned) : std::string_view();
}

}  // namespace

core::Result<LoaderCache> LoaderCache::Parse(std::string_view bytes) {
  const auto failed = [](const char* what) {
    return core::MakeError("read the dynamic linker's cache", what);
  };
  bytes = NewPart(bytes);
  if (!bytes.starts_with(kMagic)) return failed("unknown format");
  if (bytes.size() < kCacheHeaderSize) return failed("truncated");
  const uint64_t count = Read<uint32_t>(bytes, kCountAt);
  if (count > (bytes.size() - kCacheHeaderSize) / kEntrySize) return failed("truncated");
  LoaderCache cache;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t entry = kCacheHeaderSize + i * kEntrySize;
    if (Read<uint64_t>(bytes, entry + kCapabilitiesAt) != 0) continue;
    const std::optional<std::string> name = TextAt(bytes, Read<uint32_t>(bytes, entry + kNameAt));
    const std::optional<std::string> path = TextAt(bytes, Read<uint32_t>(bytes, entry + kPathAt));
    if (!name || !path) return failed("a name is not in it");
    cache.paths_[*name].push_back(*path);
  }
  return cache;
}

const std::vector<std::string>& LoaderCache::Find(const std::string& name) const {
  static const std::vector<std::string> kNone;
  const auto found = paths_.find(name);
  return found == paths_.end() ? kNone : found->second;
}

}  // namespace belljar::container::image
