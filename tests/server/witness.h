// Witness: notes the steps of executions that an observer is told of, a line each: the step, the
// caller, the execution's id where `shows_ids`, and the reason of a refusal.
#ifndef BELLJAR_TESTS_SERVER_WITNESS_H_
#define BELLJAR_TESTS_SERVER_WITNESS_H_

#include <mutex>
#include <string>

#include "server/calls/observer.h"

namespace belljar::tests {

class Witness : public server::CallObserver {
 public:
  explicit Witness(bool shows_ids) : shows_ids_(shows_ids) {}

  void Called(const server::CallRecord&) override {}
  void Submitted(const server::ExecutionRecord& record) override { Note("submitted", record); }
  void Started(const server::ExecutionRecord& record) override { Note("started", record); }
  void Refused(const server::ExecutionRecord& record) override { Note("refused", record); }
  std::string Seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void Note(const char* what, const server::ExecutionRecord& record) {
    const std::lock_guard lock(mutex_);
    seen_ += std::string(what) + " " + std::string(record.caller);
    if (shows_ids_) seen_ += " " + std::string(record.execution);
    if (!record.reason.empty()) seen_ += " " + std::string(record.reason);
    seen_ += "\n";
  }

  const bool shows_ids_;
  mutable std::mutex mutex_;
  std::string seen_;
};

}  // namespace belljar::tests

#endif  // BELLJAR_TESTS_SERVER_WITNESS_H_
