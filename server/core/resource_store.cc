#include "server/core/resource_store.h"

#include <algorithm>

namespace belljar::server {
namespace {

// Cost of keeping one resource besides its content.
constexpr uint64_t kOverhead = 512;

uint64_t CostOf(const Resource& resource) {
  return kOverhead + resource.uri.size() + resource.name.size() + resource.bytes->size();
}

// The unreserved characters of RFC 3986, section 2.3, and the path separator.
bool StandsAsItIs(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~/").find(c) != std::string_view::npos;
}

}  // namespace

ResourceStore::ResourceStore() : ResourceStore(Bounds{}) {}

ResourceStore::ResourceStore(Bounds bounds) : bounds_(bounds) {}

bool ResourceStore::Keep(const std::string& owner, const Resource& resource) {
  const uint64_t cost = CostOf(resource);
  if (resource.bytes->size() > bounds_.each.count || cost > bounds_.total.count) return false;
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  DropExpired(now);
  Shelf& shelf = shelves_[owner];
  shelf.oldest_first.push_back({resource, now + bounds_.lifetime});
  shelf.bytes += cost;
  bytes_ += cost;
  ++count_;
  while (bytes_ > bounds_.total.count || count_ > bounds_.count) {
    const bool by_bytes = bytes_ > bounds_.total.count;
    const auto largest =
        std::max_element(shelves_.begin(), shelves_.end(), [&](const auto& one, const auto& other) {
          return by_bytes ? one.second.bytes < other.second.bytes
                          : one.second.oldest_first.size() < other.second.oldest_first.size();
        });
    DropOldest(largest->second);
  }
  return true;
}

std::optional<Resource> ResourceStore::Find(const std::string& owner, const std::string& uri) {
  const std::lock_guard lock(mutex_);
  DropExpired(Clock::now());
  const auto shelf = shelves_.find(owner);
  if (shelf == shelves_.end()) return std::nullopt;
  const std::deque<Entry>& entries = shelf->second.oldest_first;
  // The newest one, in case there are two.
  const auto found = std::find_if(entries.rbegin(), entries.rend(),
                                  [&](const Entry& entry) { return entry.resource.uri == uri; });
  return found == entries.rend() ? std::nullopt : std::optional(found->resource);
}

void ResourceStore::DropExpired(Clock::time_point now) {
  for (auto shelf = shelves_.begin(); shelf != shelves_.end();) {
    std::deque<Entry>& entries = shelf->second.oldest_first;
    while (!entries.empty() && entries.front().end <= now) DropOldest(shelf->second);
    shelf = entries.empty() ? shelves_.erase(shelf) : std::next(shelf);
  }
}

void ResourceStore::DropOldest(Shelf& shelf) {
  const uint64_t cost = CostOf(shelf.oldest_first.front().resource);
  shelf.bytes -= cost;
  bytes_ -= cost;
  --count_;
  shelf.oldest_first.pop_front();
}

std::string PercentEncoded(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (StandsAsItIs(c)) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return encoded;
}

std::string ArtifactUri(std::string_view execution_id, std::string_view path) {
  return "belljar://executions/" + std::string(execution_id) + "/" + PercentEncoded(path);
}

}  // namespace belljar::server
