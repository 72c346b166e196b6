#include "container/inside/memory_events.h"

#include <algorithm>
#include <string>

#include "engine/core/fd.h"

namespace belljar::container::inside {
namespace {

// cgroup v2, then v1 (which counts since Linux 4.13).
constexpr const char* kEvents[] = {"/sys/fs/cgroup/memory.events",
                                   "/sys/fs/cgroup/memory/memory.oom_control"};
constexpr size_t kMaxEvents = 4096;

bool HasKilled() {
  return std::ranges::any_of(kEvents, [](const char* path) {
    const core::Result<std::string> events = core::ReadFile(path, kMaxEvents);
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

void ExplainOomKill(host::Outcome& outcome) {
  if (outcome.kill_cause != host::KillCause::kSigkill || !HasKilled()) return;
  host::SetStopped(outcome, host::Status::kMemoryLimit, "MemoryLimit",
                   "stopped because its container ran out of memory",
                   "use less memory at a time; files in memory count, too");
}

}  // namespace belljar::container::inside
