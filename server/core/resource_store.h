// ResourceStore: what calls have left for their callers to read later. In memory, for a bounded
// time, within a bounded number of bytes.
//
//   ResourceStore store;
//   if (store.Keep(caller.name, resource)) …                  // it can be read under its URI
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
#include <utility>

#include "engine/core/bytes.h"
#include "server/core/content.h"

namespace belljar::server {

// Any thread, many at once.
class ResourceStore {
 public:
  struct Bounds {
    core::Bytes total = core::Bytes::Mebi(128);
    core::Bytes each = core::Bytes::Mebi(16);
    size_t count = 4096;  // of all owners together
    std::chrono::milliseconds lifetime = std::chrono::minutes(15);
  };

  ResourceStore();
  explicit ResourceStore(Bounds bounds);

  // Where there is no room, the oldest of whoever holds the most gives way: nobody is pushed out by
  // an owner who holds more. False: it is longer than any may be.
  bool Keep(const std::string& owner, const Resource& resource);

  // nullopt: there is none of that URI any more, never was, or it is another owner's.
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

// "belljar://executions/<execution_id>/<path>", the path as RFC 3986 wants it written.
std::string ArtifactUri(std::string_view execution_id, std::string_view path);

}  // namespace belljar::server

#endif  // BELLJAR_SERVER_CORE_RESOURCE_STORE_H_
