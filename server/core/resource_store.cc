#include "server/core/resource_store.h"

#include <algorithm>

#include "engine/host/percent_encoding.h"

namespace belljar::server {
namespace {

// Cost of keeping one resource besides its content.
constexpr uint64_t kOverhead = 512;

uint64_t CostOf(const Resource& resource) {
  return kOverhead + resource.uri.size() + resource.name.size() + resource.bytes->size();
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

std::string ArtifactUri(std::string_view execution_id, std::string_view path) {
  return "belljar://executions/" + std::string(execution_id) + "/" +
         host::PercentEncoded(path, "/");
}

}  // namespace belljar::server
