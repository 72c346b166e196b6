// SubmissionStore: keeps the submissions of Judge0's API for their owners to read later.
//
// The one here is in memory, bounded in time, number and bytes: a restart loses it. One that
// survives is another class of this interface.
#ifndef BELLJAR_SERVER_COMPATIBLE_JUDGE0_SUBMISSION_STORE_H_
#define BELLJAR_SERVER_COMPATIBLE_JUDGE0_SUBMISSION_STORE_H_

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "engine/core/bytes.h"
#include "server/compatible/judge0/submission.h"

namespace belljar::server::compatible::judge0 {

// Any thread, concurrently. A submission never changes: its next state replaces it.
class SubmissionStore {
 public:
  virtual ~SubmissionStore() = default;
  // Adds it, or replaces the one with its token.
  virtual void Put(const std::string& owner, std::shared_ptr<const Submission> submission) = 0;
  // Null: no such submission, or it belongs to another owner.
  virtual std::shared_ptr<const Submission> Find(const std::string& owner,
                                                 const std::string& token) = 0;
  virtual void Remove(const std::string& owner, const std::string& token) = 0;
};

class MemorySubmissions final : public SubmissionStore {
 public:
  struct Bounds {
    size_t count = 10'000;
    core::Bytes total = core::Bytes::Mebi(128);
    std::chrono::milliseconds lifetime = std::chrono::hours(1);
  };

  MemorySubmissions();
  explicit MemorySubmissions(Bounds bounds);

  // When it is full, the oldest submission of the largest owner is dropped, so that nobody loses
  // any to a greedier owner.
  void Put(const std::string& owner, std::shared_ptr<const Submission> submission) override;
  std::shared_ptr<const Submission> Find(const std::string& owner,
                                         const std::string& token) override;
  void Remove(const std::string& owner, const std::string& token) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::shared_ptr<const Submission> submission;
    Clock::time_point end;
    size_t bytes = 0;
  };
  struct Shelf {
    std::list<Entry> oldest_first;
    std::map<std::string, std::list<Entry>::iterator> by_token;
    size_t bytes = 0;
  };
  using Shelves = std::map<std::string, Shelf>;

  void Erase(Shelves::iterator shelf, std::list<Entry>::iterator entry);
  void DropExpired();
  void MakeRoom(size_t bytes);

  const Bounds bounds_;
  std::mutex mutex_;
  Shelves shelves_;  // by owner; none is empty
  size_t count_ = 0;
  size_t bytes_ = 0;
};

}  // namespace belljar::server::compatible::judge0

#endif  // BELLJAR_SERVER_COMPATIBLE_JUDGE0_SUBMISSION_STORE_H_
