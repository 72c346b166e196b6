// Idempotency: answers to requests with an Idempotency-Key are kept for a while, so that a client
// that lost one can repeat the request without running its program again
// (draft-ietf-httpapi-idempotency-key-header). In memory.
//
//   switch (store.Begin(owner, key, digest_of_the_request)) … kNew: run, then End(…) or Forget(…)
#ifndef BELLJAR_SERVER_REST_IDEMPOTENCY_H_
#define BELLJAR_SERVER_REST_IDEMPOTENCY_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "engine/core/bytes.h"
#include "server/core/web.h"

namespace belljar::server::rest {

inline constexpr size_t kMaxIdempotencyKey = 255;  // bytes
// The answer to a request with an invalid key; nullopt: the key is valid, or absent.
std::optional<WebAnswer> KeyProblem(const WebHeaders& headers);

// Any thread, concurrently.
class IdempotencyStore {
 public:
  struct Bounds {
    std::chrono::milliseconds lifetime = std::chrono::minutes(15);
    size_t count = 4096;  // over all owners
    core::Bytes total = core::Bytes::Mebi(64);
  };
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  IdempotencyStore();
  explicit IdempotencyStore(Bounds bounds, Clock clock = std::chrono::steady_clock::now);

  enum class Found {
    kNew,      // now pending: End or Forget must follow
    kPending,  // the first request is still running
    kOther,    // the key was used for another request
    kAnswered,
  };
  struct Beginning {
    Found found = Found::kNew;
    std::optional<WebAnswer> answer;  // for kAnswered
  };
  Beginning Begin(const std::string& owner, const std::string& key, const std::string& digest);
  // When the store is full, the oldest answers are forgotten.
  void End(const std::string& owner, const std::string& key, const WebAnswer& answer);
  // The request had no effect: it may be sent again.
  void Forget(const std::string& owner, const std::string& key);

 private:
  using Key = std::pair<std::string, std::string>;
  struct Entry {
    std::string digest;
    std::optional<WebAnswer> answer;
    uint64_t number = 0;  // distinguishes it from a later entry with the same key
  };
  struct Kept {
    Key key;
    uint64_t number;
    std::chrono::steady_clock::time_point end;
    size_t bytes;
  };
  void DropOldest();
  void DropExpired();

  const Bounds bounds_;
  const Clock clock_;
  std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::deque<Kept> oldest_first_;  // those with an answer
  size_t bytes_ = 0;
  uint64_t last_number_ = 0;
};

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_IDEMPOTENCY_H_
