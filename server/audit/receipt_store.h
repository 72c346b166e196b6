// ReceiptStore: the statements of the latest executions, for callers that request the receipt of
// one of theirs. In memory; a statement is signed on request.
//
//   store.Begin("team-a", id);                        // it runs
//   store.Add("team-a", id, StatementOf(…));          // it has ended
//   ReceiptStore::Found found = store.Find("team-a", id);
#ifndef BELLJAR_SERVER_AUDIT_RECEIPT_STORE_H_
#define BELLJAR_SERVER_AUDIT_RECEIPT_STORE_H_

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "engine/core/bytes.h"

namespace belljar::server::audit {

// Any thread, concurrently.
class ReceiptStore {
 public:
  struct Bounds {
    size_t count = 4096;  // over all owners; the oldest are forgotten
    core::Bytes total = core::Bytes::Mebi(16);
  };
  ReceiptStore() : ReceiptStore(Bounds{}) {}
  explicit ReceiptStore(Bounds bounds) : bounds_(bounds) {}

  void Begin(const std::string& owner, const std::string& execution);
  // Nothing ran after all.
  void Drop(const std::string& owner, const std::string& execution);
  void Add(const std::string& owner, const std::string& execution, std::string statement);

  struct Found {
    bool is_running = false;
    std::string statement;  // empty: none for this owner
  };
  Found Find(const std::string& owner, const std::string& execution) const;

 private:
  using Key = std::pair<std::string, std::string>;  // owner, execution

  const Bounds bounds_;
  mutable std::mutex mutex_;
  std::set<Key> running_;  // no more than the queue runs at a time
  std::map<Key, std::string> statements_;
  std::deque<Key> oldest_first_;
  size_t bytes_ = 0;
};

}  // namespace belljar::server::audit

#endif  // BELLJAR_SERVER_AUDIT_RECEIPT_STORE_H_
