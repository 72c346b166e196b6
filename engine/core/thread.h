// Thread: owns one thread, and is the only way to start one (tools/check_threads.py). Where
// std::thread throws, it returns an error: the limit of processes (RLIMIT_NPROC, the pids of a
// cgroup) is reached, or there is no memory for a stack.
//
//   Thread thread;
//   if (Result<void> started = thread.Start("serve events", Serve); !started) return started;
//   thread.Join();
#ifndef BELLJAR_ENGINE_CORE_THREAD_H_
#define BELLJAR_ENGINE_CORE_THREAD_H_

#include <signal.h>

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "engine/core/result.h"

namespace belljar::core {

// Blocks all signals in the calling thread during its lifetime, except those of faults, which have
// handlers in sanitizers and in an application's crash reporter. Threads started meanwhile keep
// them blocked.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

// What to do where the kernel refuses a thread or a process with that errno. Empty: nothing that an
// operator could change.
std::string ProcessAdvice(int error_number);

// Why no thread could be started, and what to do.
Error NoThread(int error_number, std::string operation);

// Joins on destruction.
class Thread {
 public:
  Thread() = default;  // none
  Thread(Thread&&) noexcept = default;
  // Precondition: this one has been joined, or was never started.
  Thread& operator=(Thread&&) noexcept = default;
  ~Thread() { Join(); }

  // In the new thread all signals are blocked (BlockedSignals): their handlers belong to the
  // threads of the program around us, and a write to a pipe without a reader fails with EPIPE
  // instead of raising SIGPIPE. `operation` is that of the error. Precondition: there is none.
  template <typename Work>
  Result<void> Start(std::string operation, Work&& work) {
    const BlockedSignals blocked;
    try {
      thread_ = std::thread(std::forward<Work>(work));
    } catch (const std::system_error& error) {
      return NoThread(error.code().value(), std::move(operation));
    }
    return {};
  }
  explicit operator bool() const { return thread_.joinable(); }
  // Waits for its end; does nothing if there is no thread.
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  // After this, nobody waits for its end.
  void Detach() { thread_.detach(); }

 private:
  std::thread thread_;
};

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_THREAD_H_
