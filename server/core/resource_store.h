// ResourceStore: keeps what calls produced for their callers to read later. In memory, for a
// bounded time and within a bounded number of bytes.
//
//   ResourceStore store;
//   if (store.Keep(caller.name, resource)) …                  // readable at its URI
//   std::optional<Resource> found = store.Find(caller.name, uri);
#ifndef BELLJAR_SERVER_CORE_RESOURCE_STORE_H_
#define BELLJAR_SERVER_CORE_RESOURCE_STORE_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/bytes.h"
#include "server/core/content.h"

namespace belljar::server {

// Any thread, concurrently.
class ResourceStore {
 public:
  struct Bounds {
    core::Bytes total = core::Bytes::Mebi(128);
    core::Bytes each = core::Bytes::Mebi(16);
    size_t count = 4096;  // over all owners
    std::chrono::milliseconds lifetime = std::chrono::minutes(15);
  };

  ResourceStore();
  explicit ResourceStore(Bounds bounds);

  core::Bytes max_each() const { return bounds_.each; }

  // When the store is full, the oldest entry of the largest owner is dropped, so an owner never
  // loses entries to a larger one. Returns false if the resource exceeds the maximum size.
  bool Keep(const std::string& owner, const Resource& resource);

  // nullopt: the URI is unknown or expired, or belongs to another owner.
  std::optional<Resource> Find(const std::string& owner, const std::string& uri);

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Resource resource;
    Clock::time_point end;
  };
  struct Shelf {
    std::deque<Entry> oldest_first;
    uint64_t bytes = 0;
  };

  void DropExpired(Clock::time_point now);
  void DropOldest(Shelf& shelf);

  const Bounds bounds_;
  std::mutex mutex_;
  std::map<std::string, Shelf> shelves_;  // by owner
  uint64_t bytes_ = 0;
  size_t count_ = 0;
};

// "belljar://executions/<execution_id>/<path>", the path percent-encoded (RFC 3986).
std::string ArtifactUri(std::string_view execution_id, std::string_view path);

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_RESOURCE_STORE_H_
