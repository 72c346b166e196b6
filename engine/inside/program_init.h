// The first process of a PID namespace, in which it starts one program at a time: passes its input
// on, moves its output into the capture, reaps what it leaves behind, and ends all of it.
#ifndef BELLJAR_ENGINE_INSIDE_PROGRAM_INIT_H_
#define BELLJAR_ENGINE_INSIDE_PROGRAM_INIT_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/program_messages.h"

namespace belljar::inside {

// The ends of two pipes to a program whose others it has as descriptors 3 and 4.
struct Dialogue {
  core::UniqueFd requests;
  core::UniqueFd answers;
};

// The first process of a PID namespace; in a container this is another process.
inline constexpr pid_t kFirst = 1;

class ProgramInit {
 public:
  // SIGCHLD and SIGINT become readable, so that none comes between looking and waiting.
  bool Begin();

  core::ProgramEnd Run(const std::vector<std::string>& command,
                       const std::vector<std::string>& environment, std::string_view input);

  // Instead of Run, for a program that is to be asked. `input`: its standard input; without one, a
  // pipe, for Finish. nullopt: it could not be started.
  std::optional<Dialogue> StartDialogue(const std::vector<std::string>& command,
                                        const std::vector<std::string>& environment,
                                        const core::UniqueFd& input = {});
  // `receive` is called whenever `source` is readable, and may close it. False: the program is
  // done, and is ended as if it had exited with 0.
  core::ProgramEnd Finish(std::string_view input, const core::UniqueFd& source = {},
                          const std::function<bool()>& receive = {});

  // Instead of Finish: until `source` is readable and `receive` wants no more, or the program ends:
  // how, or nullopt if it still runs. `receive` may close `source`. An interrupt of the host is
  // passed on to it.
  std::optional<core::ProgramEnd> RunUntil(const core::UniqueFd& source,
                                           const std::function<bool()>& receive);

  // Instead of Finish: ends what has been started, as if it had not been.
  void Abandon();

  // Both signal everything that has been started.
  void StopAll() const;
  void ContinueAll() const;

  // Used by the program that has been started and not finished.
  uint64_t CpuMicroseconds() const;

  // The end of what the last command, or the program since Forget, wrote to standard error.
  const std::string& tail() const { return tail_; }
  void ForgetTail() { tail_.clear(); }

 private:
  // The parts of Run. `more`: descriptors of the program after its standard ones, above those
  // numbers, as `input` is, its standard input; -1: a pipe. Returns an errno.
  int Start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
            const std::vector<int>& more, int input);
  std::optional<int> Watch(const core::UniqueFd* source, const std::function<bool()>& receive);
  std::optional<int> HandleSignals(bool interrupts);
  core::ProgramEnd Ended(int status);
  core::ProgramEnd EndDone();
  void EndAll();
  void Drain(size_t stream);
  void KeepTail(std::string_view bytes);
  void PassInputOn();

  static constexpr size_t kPiece = size_t{64} << 10;

  core::UniqueFd signals_;
  pid_t program_ = -1;
  uint64_t max_rss_bytes_ = 0;
  std::array<core::UniqueFd, 2> output_;
  core::UniqueFd input_to_;
  std::string_view input_;
  std::string tail_;
  std::array<char, kPiece> piece_{};
};

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_PROGRAM_INIT_H_
