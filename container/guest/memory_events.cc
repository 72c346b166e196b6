#include "container/guest/memory_events.h"

#include <algorithm>
#include <string>

#include "engine/core/fd.h"

namespace belljar {
namespace {

// cgroup v2, then v1 (the latter counts since Linux 4.13).
constexpr const char* kEvents[] = {"/sys/fs/cgroup/memory.events",
                                   "/sys/fs/cgroup/memory/memory.oom_control"};
constexpr size_t kMostEvents = 4096;

bool HasKilled() {
  return std::ranges::any_of(kEvents, [](const char* path) {
    const Result<std::string> events = ReadFile(path, kMostEvents);
    return events && CountsOomKills(*events);
  });
}

}  // namespace

bool CountsOomKills(std::string_view events) {
  constexpr std::string_view kName = "oom_kill ";
  while (!events.empty()) {
    const std::string_view line = events.substr(0, events.find('\n'));
    if (line.starts_with(kName)) return line.substr(kName.size()) != "0";
    events.remove_prefix(std::min(line.size() + 1, events.size()));
  }
  return false;
}

void ExplainOomKill(Outcome& outcome) {
  const bool is_killed = outcome.status == Status::kKilled && outcome.error &&
                         outcome.error->message == "killed by SIGKILL";
  if (!is_killed || !HasKilled()) return;
  outcome.status = Status::kMemoryLimit;
  outcome.error->type = "MemoryLimit";
  outcome.error->message = "stopped for want of memory in its container";
  outcome.error->hint = "use less memory at a time; files that are in memory count";
}

}  // namespace belljar
