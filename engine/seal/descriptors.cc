#include "engine/seal/descriptors.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace belljar::seal {
namespace {

// The largest descriptor that gVisor of 2022 accepts.
constexpr unsigned kLastDescriptor = 0x7fffffff;

bool CloseFrom(unsigned first, unsigned last) {
  return first > last || syscall(SYS_close_range, first, last, 0) == 0;
}

}  // namespace

bool CloseAllBut(std::array<int, 4> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = 3;
  for (const int fd : kept) {
    if (fd < 3) continue;
    const auto last = static_cast<unsigned>(fd);
    if (!CloseFrom(first, last - 1)) return false;
    first = last + 1;
  }
  return CloseFrom(first, kLastDescriptor);
}

}  // namespace belljar::seal
