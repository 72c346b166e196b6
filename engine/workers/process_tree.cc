#include "engine/workers/process_tree.h"

#include <dirent.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::workers {
namespace {

constexpr size_t kMaxFileOfTree = size_t{64} << 10;

std::string ReadIfAny(const std::string& path) {
  core::Result<std::string> text = core::ReadFile(path, kMaxFileOfTree);
  return text ? std::move(*text) : std::string();
}

uint64_t Number(std::string_view digits) {
  uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::chrono::microseconds Ticks(uint64_t count) {
  static const auto per_second = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  return std::chrono::microseconds(count * 1'000'000 / per_second);
}

// utime, stime, cutime and cstime of /proc/<pid>/stat: fields 14 to 17, of which the name, field 2,
// may contain anything but ends with the last parenthesis (proc_pid_stat(5)).
std::chrono::microseconds CpuTime(std::string_view stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == stat.npos) return {};
  const std::vector<std::string_view> fields = core::SplitAt(stat.substr(name_end + 1), ' ');
  constexpr size_t kUserTime = 12;  // after an empty piece and field 3
  if (fields.size() < kUserTime + 4) return {};
  uint64_t ticks = 0;
  for (size_t i = 0; i < 4; ++i) ticks += Number(fields[kUserTime + i]);
  return Ticks(ticks);
}

// RssAnon and RssShmem of /proc/<pid>/status, in KiB.
uint64_t Memory(std::string_view status) {
  uint64_t kibibytes = 0;
  for (const std::string_view line : core::SplitAt(status, '\n')) {
    for (const std::string_view key : {"RssAnon:", "RssShmem:"}) {
      if (!line.starts_with(key)) continue;
      const size_t digit = line.find_first_of("0123456789");
      if (digit != line.npos) kibibytes += Number(line.substr(digit));
    }
  }
  return kibibytes * 1024;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// The children of each of its threads.
void AddChildren(const std::string& process, std::vector<std::string>& pids) {
  const std::unique_ptr<DIR, CloseDirectory> tasks(opendir((process + "/task").c_str()));
  if (!tasks) return;
  // readdir is only unsafe for two threads with one stream.
  while (const dirent* const task = readdir(tasks.get())) {  // NOLINT(concurrency-mt-unsafe)
    if (task->d_name[0] == '.') continue;
    const std::string children = ReadIfAny(process + "/task/" + task->d_name + "/children");
    for (const std::string_view pid : core::SplitAt(children, ' ')) {
      if (!pid.empty()) pids.emplace_back(pid);
    }
  }
}

}  // namespace

TreeUsage UsageOfTree(pid_t root) {
  TreeUsage usage;
  std::vector<std::string> pids = {std::to_string(root)};
  // A child that is moved to another parent while this looks may be seen twice or not at all.
  for (size_t i = 0; i < pids.size(); ++i) {
    const std::string process = "/proc/" + pids[i];
    usage.cpu_time += CpuTime(ReadIfAny(process + "/stat"));
    usage.memory += Memory(ReadIfAny(process + "/status"));
    ++usage.processes;
    AddChildren(process, pids);
  }
  return usage;
}

}  // namespace belljar::workers
