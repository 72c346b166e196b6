// Keyboard: what is typed, also while a cell runs.
//
//   Keyboard keyboard(interruption);
//   keyboard.Next();                              // for the line editor
//   { const Keyboard::Watch watch(keyboard); … }  // Ctrl-C raises SIGINT on `interruption`
//
// The terminal itself must not turn keys into signals: those go to the whole process group, and so
// also to the program that started this one. So the line editor leaves the terminal in a mode in
// which Ctrl-C and Ctrl-Z are ordinary characters, and while a cell runs a thread reads them. Other
// input is kept for the next line.
#ifndef BELLJAR_CLI_REPL_KEYBOARD_H_
#define BELLJAR_CLI_REPL_KEYBOARD_H_

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cli/interruption.h"
#include "engine/core/fd.h"
#include "engine/core/socket.h"
#include "engine/core/thread.h"

namespace belljar::cli::repl {

class Keyboard {
 public:
  static constexpr int kInterrupted = -1;  // Ctrl-C, or a signal that ends the process
  static constexpr int kEnd = -2;          // the terminal is gone
  // the terminal was resized, or we were stopped in between
  static constexpr int kChanged = -3;
  static constexpr int kTimedOut = -4;  // nothing was typed before the deadline

  // At most one per process at a time. `interruption` must outlive it.
  explicit Keyboard(Interruption& interruption);
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;

  // The next byte, or one of the above. Not while there is a watch.
  int Next(core::Deadline deadline = core::Deadline::max());

  // Whether Next() would return at once: something was typed ahead, or is being pasted.
  bool HasInput() const;

  // Stops this process and the others of its group until it is continued, as Ctrl-Z does.
  void Suspend();
  // What Suspend() does first, for whoever has changed more of the terminal than its mode.
  void BeforeStop(std::function<void()> restore) { before_stop_ = std::move(restore); }

  // Ctrl-C and Ctrl-Z work while it exists.
  class Watch {
   public:
    explicit Watch(Keyboard& keyboard);
    ~Watch();
    Watch(const Watch&) = delete;

    // Why they do not work: nothing could stop a cell.
    const std::optional<core::Error>& error() const { return error_; }

   private:
    void Read();

    Keyboard& keyboard_;
    core::UniqueFd stop_;
    std::optional<core::Error> error_;
    core::Thread thread_;
  };

 private:
  Interruption& interruption_;
  core::UniqueFd changes_;
  std::function<void()> before_stop_;
  std::deque<unsigned char> typed_ahead_;  // the watch's while there is one
};

}  // namespace belljar::cli::repl

#endif  // BELLJAR_CLI_REPL_KEYBOARD_H_
