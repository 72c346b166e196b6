#include "server/audit/receipt_store.h"

namespace belljar::server::audit {

void ReceiptStore::Begin(const std::string& owner, const std::string& execution) {
  const std::lock_guard lock(mutex_);
  running_.insert({owner, execution});
}

void ReceiptStore::Drop(const std::string& owner, const std::string& execution) {
  const std::lock_guard lock(mutex_);
  running_.erase({owner, execution});
}

void ReceiptStore::Add(const std::string& owner, const std::string& execution,
                       std::string statement) {
  const std::lock_guard lock(mutex_);
  const Key key{owner, execution};
  running_.erase(key);
  if (statement.size() > bounds_.total.count) return;
  bytes_ += statement.size();
  std::string& kept = statements_[key];
  if (kept.empty()) {
    oldest_first_.push_back(key);
  } else {
    bytes_ -= kept.size();  // a job that was restarted
  }
  kept = std::move(statement);
  while (bytes_ > bounds_.total.count || oldest_first_.size() > bounds_.count) {
    const auto oldest = statements_.find(oldest_first_.front());
    bytes_ -= oldest->second.size();
    statements_.erase(oldest);
    oldest_first_.pop_front();
  }
}

ReceiptStore::Found ReceiptStore::Find(const std::string& owner,
                                       const std::string& execution) const {
  const std::lock_guard lock(mutex_);
  const auto found = statements_.find({owner, execution});
  if (found != statements_.end()) return {false, found->second};
  return {running_.contains({owner, execution}), ""};
}

}  // namespace belljar::server::audit
