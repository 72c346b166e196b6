#include "engine/inside/child_processes.h"

#include <signal.h>

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/text.h"

namespace belljar::inside {

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

uint64_t Microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
}

bool KillChildren() {
  constexpr size_t kMaxChildren = size_t{1} << 20;
  const core::Result<std::string> children =
      core::ReadFile("/proc/thread-self/children", kMaxChildren);
  if (!children) return false;
  const std::vector<std::string_view> pids = core::Words(*children);
  for (const std::string_view pid : pids) {
    pid_t number = 0;
    std::from_chars(pid.data(), pid.data() + pid.size(), number);
    if (number > 0) (void)kill(number, SIGKILL);
  }
  return !pids.empty();
}

}  // namespace belljar::inside
