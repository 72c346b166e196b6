#include "server/compatible/judge0/submission_store.h"

#include <algorithm>

namespace belljar::server::compatible::judge0 {
namespace {

constexpr size_t kOfAnEntry = 1024;  // bytes, besides the texts

size_t BytesOf(const Submission& submission) {
  size_t bytes = kOfAnEntry;
  for (const std::optional<std::string>* text :
       {&submission.standard_input, &submission.expected_output, &submission.standard_output,
        &submission.standard_error, &submission.message, &submission.command_line_arguments}) {
    if (*text) bytes += (*text)->size();
  }
  return bytes + submission.source_code.size();
}

}  // namespace

MemorySubmissions::MemorySubmissions() : MemorySubmissions(Bounds()) {}
MemorySubmissions::MemorySubmissions(Bounds bounds) : bounds_(bounds) {}

void MemorySubmissions::Erase(Shelves::iterator shelf, std::list<Entry>::iterator entry) {
  count_ -= 1;
  bytes_ -= entry->bytes;
  shelf->second.bytes -= entry->bytes;
  shelf->second.by_token.erase(entry->submission->token);
  shelf->second.oldest_first.erase(entry);
  if (shelf->second.oldest_first.empty()) shelves_.erase(shelf);
}

void MemorySubmissions::DropExpired() {
  const Clock::time_point now = Clock::now();
  for (auto shelf = shelves_.begin(); shelf != shelves_.end();) {
    const auto next = std::next(shelf);
    size_t left = shelf->second.oldest_first.size();
    while (left-- > 0 && shelf->second.oldest_first.front().end <= now) {
      Erase(shelf, shelf->second.oldest_first.begin());
    }
    shelf = next;
  }
}

void MemorySubmissions::MakeRoom(size_t bytes) {
  while (count_ > 0 && (count_ >= bounds_.count || bytes_ + bytes > bounds_.total.count)) {
    const auto largest = std::max_element(
        shelves_.begin(), shelves_.end(),
        [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
    Erase(largest, largest->second.oldest_first.begin());
  }
}

void MemorySubmissions::Put(const std::string& owner,
                            std::shared_ptr<const Submission> submission) {
  const size_t bytes = BytesOf(*submission);
  std::lock_guard lock(mutex_);
  if (const auto shelf = shelves_.find(owner); shelf != shelves_.end()) {
    const auto known = shelf->second.by_token.find(submission->token);
    if (known != shelf->second.by_token.end()) Erase(shelf, known->second);
  }
  DropExpired();
  MakeRoom(bytes);
  Shelf& shelf = shelves_[owner];
  shelf.oldest_first.push_back({submission, Clock::now() + bounds_.lifetime, bytes});
  shelf.by_token[submission->token] = std::prev(shelf.oldest_first.end());
  shelf.bytes += bytes;
  count_ += 1;
  bytes_ += bytes;
}

std::shared_ptr<const Submission> MemorySubmissions::Find(const std::string& owner,
                                                          const std::string& token) {
  std::lock_guard lock(mutex_);
  DropExpired();
  const auto shelf = shelves_.find(owner);
  if (shelf == shelves_.end()) return nullptr;
  const auto found = shelf->second.by_token.find(token);
  return found == shelf->second.by_token.end() ? nullptr : found->second->submission;
}

void MemorySubmissions::Remove(const std::string& owner, const std::string& token) {
  std::lock_guard lock(mutex_);
  const auto shelf = shelves_.find(owner);
  if (shelf == shelves_.end()) return;
  const auto found = shelf->second.by_token.find(token);
  if (found != shelf->second.by_token.end()) Erase(shelf, found->second);
}

}  // namespace belljar::server::compatible::judge0
