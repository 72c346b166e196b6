#include "engine/seal/rlimits.h"

#include <sys/resource.h>

#include <cerrno>
#include <chrono>

namespace belljar::seal {

namespace {

constexpr bool MayBeMissing(__rlimit_resource resource) {
  return resource == RLIMIT_MSGQUEUE || resource == RLIMIT_SIGPENDING;
}

bool Set(__rlimit_resource resource, rlim_t value) {
  const rlimit both{value, value};
  return setrlimit(resource, &both) == 0 || (errno == EPERM && MayBeMissing(resource));
}

}  // namespace

bool ApplyRlimits(const core::Limits& limits, uint64_t base_address_space,
                  std::chrono::milliseconds base_cpu) {
  // The host enforces the CPU limit to the millisecond. This limit, in whole seconds, is a fallback
  // in case the host is late. SIGKILL comes at the hard limit, whatever the guest does with
  // SIGXCPU. Both terms are rounded separately: a request's limit comes in whole seconds and must
  // not exceed the ceiling because of rounding.
  const auto cpu = (std::chrono::ceil<std::chrono::seconds>(limits.cpu) +
                    std::chrono::ceil<std::chrono::seconds>(base_cpu))
                       .count() +
                   1;
  const struct {
    __rlimit_resource resource;
    rlim_t value;
  } kLimits[] = {
      {RLIMIT_AS, base_address_space + limits.memory.count},
      {RLIMIT_CPU, static_cast<rlim_t>(cpu)},
      {RLIMIT_FSIZE, limits.file_size.count},
      {RLIMIT_NOFILE, limits.open_files},
      {RLIMIT_NPROC, limits.processes},
      {RLIMIT_CORE, 0},
      {RLIMIT_MEMLOCK, 0},
      {RLIMIT_MSGQUEUE, 0},
      {RLIMIT_SIGPENDING, 64},
  };
  for (const auto& limit : kLimits) {
    if (!Set(limit.resource, limit.value)) return false;
  }
  return true;
}

}  // namespace belljar::seal
