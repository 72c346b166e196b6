#include "engine/inside/stack.h"

#include <sys/resource.h>

#include <algorithm>

namespace belljar::inside {
namespace {

constexpr rlim_t kStack = rlim_t{256} << 20;

}  // namespace

void RaiseStackLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur >= kStack) return;
  limit.rlim_cur = std::min(kStack, limit.rlim_max);
  // If it fails, recursion through C ends the worker earlier; the result says that it was killed.
  (void)setrlimit(RLIMIT_STACK, &limit);
}

}  // namespace belljar::inside
