#include "server/rest/idempotency.h"

namespace belljar::server::rest {

std::optional<WebAnswer> KeyProblem(const WebHeaders& headers) {
  const std::optional<std::string>& key = headers.idempotency_key;
  if (!key || (!key->empty() && key->size() <= kMaxIdempotencyKey)) return std::nullopt;
  return Problem(
      400, "Idempotency-Key must have 1 to " + std::to_string(kMaxIdempotencyKey) + " characters");
}

IdempotencyStore::IdempotencyStore() : IdempotencyStore(Bounds{}) {}

IdempotencyStore::IdempotencyStore(Bounds bounds, Clock clock)
    : bounds_(bounds), clock_(std::move(clock)) {}

IdempotencyStore::Beginning IdempotencyStore::Begin(const std::string& owner,
                                                    const std::string& key,
                                                    const std::string& digest) {
  const std::lock_guard lock(mutex_);
  DropExpired();
  const auto [found, is_new] = entries_.try_emplace({owner, key});
  Entry& entry = found->second;
  if (is_new) {
    entry.digest = digest;
    entry.number = ++last_number_;
    return {Found::kNew, std::nullopt};
  }
  if (entry.digest != digest) return {Found::kOther, std::nullopt};
  if (!entry.answer) return {Found::kPending, std::nullopt};
  return {Found::kAnswered, entry.answer};
}

void IdempotencyStore::End(const std::string& owner, const std::string& key,
                           const WebAnswer& answer) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({owner, key});
  if (found == entries_.end()) return;
  const size_t bytes = answer.body.size() + answer.headers.size();
  if (bytes > bounds_.total.count) {
    entries_.erase(found);
    return;
  }
  found->second.answer = answer;
  oldest_first_.push_back({found->first, found->second.number, clock_() + bounds_.lifetime, bytes});
  bytes_ += bytes;
  while (bytes_ > bounds_.total.count || oldest_first_.size() > bounds_.count) DropOldest();
}

void IdempotencyStore::Forget(const std::string& owner, const std::string& key) {
  const std::lock_guard lock(mutex_);
  entries_.erase({owner, key});
}

void IdempotencyStore::DropOldest() {
  const Kept& oldest = oldest_first_.front();
  const auto found = entries_.find(oldest.key);
  if (found != entries_.end() && found->second.number == oldest.number) entries_.erase(found);
  bytes_ -= oldest.bytes;
  oldest_first_.pop_front();
}

void IdempotencyStore::DropExpired() {
  const auto now = clock_();
  while (!oldest_first_.empty() && oldest_first_.front().end <= now) DropOldest();
}

}  // namespace belljar::server::rest
