#include "server/operations/process_figures.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

#include "engine/core/fd.h"

namespace belljar::server::operations {
namespace {

constexpr size_t kMaxProcFile = 64 << 10;

std::optional<uint64_t> CountFds() {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/fd"), closedir);
  if (!directory) return std::nullopt;
  uint64_t count = 0;
  while (const dirent* entry = readdir(directory.get())) {
    if (entry->d_name[0] != '.') ++count;
  }
  return count - 1;  // without the descriptor of the directory itself
}

// Boot time in seconds since 1970.
std::optional<double> BootTime() {
  const core::Result<std::string> stat = core::ReadFile("/proc/stat", size_t{4} << 20);
  if (!stat) return std::nullopt;
  const size_t at = stat->find("\nbtime ");
  if (at == std::string::npos) return std::nullopt;
  return strtod(stat->c_str() + at + 7, nullptr);
}

// Fields of /proc/PID/stat (proc(5)), counted from the one after the command name, which may itself
// contain spaces and parentheses.
void ReadStat(ProcessFigures& figures) {
  const core::Result<std::string> stat = core::ReadFile("/proc/self/stat", kMaxProcFile);
  if (!stat) return;
  const size_t name_end = stat->rfind(") ");
  if (name_end == std::string::npos) return;
  std::istringstream fields(stat->substr(name_end + 2));
  std::string skipped;
  for (int i = 3; i < 22; ++i) fields >> skipped;
  uint64_t start_ticks = 0, virtual_bytes = 0, resident_pages = 0;
  if (!(fields >> start_ticks >> virtual_bytes >> resident_pages)) return;
  figures.virtual_bytes = virtual_bytes;
  figures.resident_bytes = resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (const std::optional<double> boot = BootTime()) {
    figures.start_time =
        *boot + static_cast<double>(start_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

ProcessFigures ReadProcessFigures() {
  ProcessFigures figures;
  ReadStat(figures);
  figures.open_fds = CountFds();
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) figures.max_fds = limit.rlim_cur;
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    figures.cpu_seconds = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  }
  return figures;
}

}  // namespace belljar::server::operations
