// What host and worker say of the commands of a session (engine/commands/command_runner.h).
//
//   host ──CommandOrder, for kStart a CommandStart──▶ worker ──CommandEvent──▶ host   any number,
//   in
//                                                     any order; no answer is waited for
#ifndef BELLJAR_ENGINE_CORE_COMMAND_MESSAGES_H_
#define BELLJAR_ENGINE_CORE_COMMAND_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace belljar::core {

struct CommandOrder {
  enum Kind : uint32_t {
    kStart,   // `value` bytes follow. Attached: standard input, output and error
    kSignal,  // number `value`, to the command's process group
    kEnd,     // kills the command and all that it has started
    kEndAll,  // kills all commands, at once
  };
  uint32_t magic = 0x424a434f;  // "BJCO"
  uint32_t kind = kStart;
  uint64_t command = 0;  // the host's number of it
  uint64_t value = 0;
};
inline constexpr size_t kCommandDescriptors = 3;

// In flat form (flat.h).
struct CommandStart {
  std::vector<std::string> arguments;    // the first is looked for in PATH
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::string directory;                 // absolute
  bool has_terminal = false;             // the descriptors are one, which becomes its own
  static auto Members(auto& start) {
    return std::tie(start.arguments, start.environment, start.directory, start.has_terminal);
  }
};

struct CommandEvent {
  enum Kind : uint32_t {
    kNotStarted,  // `status`: an errno; `step`: what failed
    kStarted,     // `status`: the number of its process
    kExited,      // `status` as of waitpid(2); `step`: kOthersRun if what it has started still does
    kGone,        // nothing is left of it; the last event. `status`: not 0: it was killed with all
                  // other commands, because a program has killed what watches over this one
  };
  enum Step : uint32_t { kFork, kDirectory, kExecute, kOthersRun };
  uint32_t magic = 0x424a4345;  // "BJCE"
  uint32_t kind = kStarted;
  uint64_t command = 0;
  int32_t status = 0;
  uint32_t step = kFork;
  int32_t supervisor = 0;  // the number of the process that watches over it
  int32_t padding = 0;
  // kExited and kGone: of all that has ended and been waited for.
  uint64_t cpu_microseconds = 0;
  uint64_t max_rss_bytes = 0;
};

}  // namespace belljar::core

#endif  // BELLJAR_ENGINE_CORE_COMMAND_MESSAGES_H_
