#include "engine/workers/process_tree.h"

#include <dirent.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/process.h"
#include "engine/core/text.h"

namespace belljar::workers {
namespace {

constexpr size_t kMaxFileOfTree = size_t{64} << 10;

std::string Directory(pid_t pid) { return "/proc/" + std::to_string(pid); }

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

// utime, stime, cutime and cstime: fields 14 to 17 of /proc/<pid>/stat.
std::chrono::microseconds CpuTime(std::string_view stat) {
  const std::vector<std::string_view> fields = core::StatFields(stat);
  constexpr size_t kUserTime = 11;
  if (fields.size() < kUserTime + 4) return {};
  uint64_t ticks = 0;
  for (size_t i = 0; i < 4; ++i) ticks += Number(fields[kUserTime + i]);
  return Ticks(ticks);
}

// The sum of the lines with these keys, which are in KiB; none without any of them.
std::optional<uint64_t> SumOf(std::string_view text, std::initializer_list<std::string_view> keys) {
  std::optional<uint64_t> kibibytes;
  for (const std::string_view line : core::SplitAt(text, '\n')) {
    for (const std::string_view key : keys) {
      if (!line.starts_with(key)) continue;
      const size_t digit = line.find_first_of("0123456789");
      if (digit != line.npos) kibibytes = kibibytes.value_or(0) + Number(line.substr(digit));
    }
  }
  if (kibibytes) *kibibytes *= 1024;
  return kibibytes;
}

uint64_t Memory(const std::string& process) {
  const std::string status = ReadIfAny(process + "/status");
  const std::optional<uint64_t> own = SumOf(status, {"RssAnon:", "RssShmem:", "VmSwap:"});
  // gVisor does not tell what of it is of files.
  return own ? *own : SumOf(status, {"VmRSS:"}).value_or(0);
}

// A page of which n processes have a mapping counts 1/n (proc_pid_smaps(5)); Linux 5.4.
uint64_t ProportionalMemory(const std::string& process) {
  return SumOf(ReadIfAny(process + "/smaps_rollup"), {"Pss_Anon:", "Pss_Shmem:", "SwapPss:"})
      .value_or(Memory(process));
}

bool ShareAddressSpace(pid_t one, pid_t other) {
  return syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0) == 0;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// The children of each of its threads.
void AddChildren(const std::string& process, std::vector<pid_t>& pids) {
  const std::unique_ptr<DIR, CloseDirectory> tasks(opendir((process + "/task").c_str()));
  if (!tasks) return;
  // readdir is only unsafe for two threads with one stream.
  while (const dirent* const task = readdir(tasks.get())) {  // NOLINT(concurrency-mt-unsafe)
    if (task->d_name[0] == '.') continue;
    const std::string children = ReadIfAny(process + "/task/" + task->d_name + "/children");
    for (const std::string_view pid : core::SplitAt(children, ' ')) {
      if (!pid.empty()) pids.push_back(static_cast<pid_t>(Number(pid)));
    }
  }
}

std::vector<pid_t> AllOthers() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, CloseDirectory> all(opendir("/proc"));
  if (!all) return pids;
  while (const dirent* const process = readdir(all.get())) {  // NOLINT(concurrency-mt-unsafe)
    const auto pid = static_cast<pid_t>(Number(process->d_name));
    if (pid > 1 && pid != getpid()) pids.push_back(pid);
  }
  return pids;
}

// A child that is moved to another parent while this looks may be seen twice or not at all.
std::vector<pid_t> ProcessesOfTree(pid_t root) {
  if (root == kAllOthers) return AllOthers();
  std::vector<pid_t> pids = {root};
  for (size_t i = 0; i < pids.size(); ++i) AddChildren(Directory(pids[i]), pids);
  return pids;
}

// Whether it is stopped, or has ended.
bool IsStopped(pid_t pid) {
  const std::string stat = ReadIfAny(Directory(pid) + "/stat");
  const std::vector<std::string_view> fields = core::StatFields(stat);
  constexpr std::string_view kStopped = "TtZX";
  return fields.empty() || kStopped.find(fields[0].front()) != kStopped.npos;
}

// Whether its only thread gives back what it had.
bool IsExiting(pid_t pid) {
  constexpr size_t kFlags = 6;
  constexpr size_t kThreads = 17;
  const std::string stat = ReadIfAny(Directory(pid) + "/stat");
  const std::vector<std::string_view> fields = core::StatFields(stat);
  if (fields.empty()) return true;
  return fields.size() > kThreads && fields[kThreads] == "1" &&
         (Number(fields[kFlags]) & core::kExitingFlag) != 0;
}

}  // namespace

TreeUsage UsageOfTree(pid_t root) {
  TreeUsage usage;
  for (const pid_t pid : ProcessesOfTree(root)) {
    const std::string process = Directory(pid);
    usage.cpu_time += CpuTime(ReadIfAny(process + "/stat"));
    usage.memory += Memory(process);
    ++usage.processes;
  }
  return usage;
}

uint64_t MemoryOfTree(pid_t root) {
  uint64_t memory = 0;
  std::vector<pid_t> counted;
  for (const pid_t pid : ProcessesOfTree(root)) {
    const auto is_same = [pid](pid_t other) { return ShareAddressSpace(pid, other); };
    if (std::ranges::any_of(counted, is_same)) continue;
    memory += ProportionalMemory(Directory(pid));
    counted.push_back(pid);
  }
  return memory;
}

pid_t ChildInNamespace(pid_t parent, pid_t number) {
  std::vector<pid_t> children;
  AddChildren(Directory(parent), children);
  for (const pid_t child : children) {
    const std::string status = ReadIfAny(Directory(child) + "/status");
    for (const std::string_view line : core::SplitAt(status, '\n')) {
      if (!line.starts_with("NSpid:")) continue;
      if (Number(line.substr(line.find_last_of("\t ") + 1)) == static_cast<uint64_t>(number))
        return child;
    }
  }
  return -1;
}

bool AwaitStopped(pid_t root, core::Deadline deadline) {
  constexpr std::chrono::milliseconds kPause{1};
  for (;;) {
    std::vector<pid_t> pids = ProcessesOfTree(root);
    std::erase(pids, root);
    if (std::ranges::all_of(pids, IsStopped)) return true;
    if (core::Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPause);
  }
}

bool AwaitRest(pid_t root, core::Deadline deadline) {
  constexpr std::chrono::microseconds kPause{50};
  if (access("/proc/thread-self/children", R_OK) != 0) return false;
  const auto rests = [](pid_t pid) { return IsStopped(pid) || IsExiting(pid); };
  for (;;) {
    if (std::ranges::all_of(ProcessesOfTree(root), rests)) return true;
    if (core::Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kPause);
  }
}

void KillAllOthers() { (void)kill(-1, SIGKILL); }

}  // namespace belljar::workers
