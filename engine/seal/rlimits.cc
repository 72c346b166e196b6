#include "engine/seal/rlimits.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace belljar::seal {

namespace {

constexpr bool MayBeMissing(__rlimit_resource resource) {
  return resource == RLIMIT_MSGQUEUE || resource == RLIMIT_SIGPENDING;
}

struct Limit {
  rlim_t soft;
  rlim_t hard;
};
constexpr Limit Both(rlim_t value) { return {value, value}; }

bool Set(__rlimit_resource resource, Limit limit) {
  const rlimit both{limit.soft, limit.hard};
  return setrlimit(resource, &both) == 0 || (errno == EPERM && MayBeMissing(resource));
}

// What each thread of a program gets by default, too (pthread_create(3)).
constexpr rlim_t kProgramStack = rlim_t{8} << 20;

// CPU time in whole seconds. Longer than any session lives.
constexpr rlim_t kMaxSessionCpu = rlim_t{1} << 30;

bool Apply(const core::Limits& limits, uint64_t base_address_space, Limit cpu, Limit processes) {
  const struct {
    __rlimit_resource resource;
    Limit limit;
  } kLimits[] = {
      {RLIMIT_AS, Both(base_address_space + limits.memory.count)},
      {RLIMIT_CPU, cpu},
      {RLIMIT_FSIZE, Both(limits.file_size.count)},
      {RLIMIT_NOFILE, Both(limits.open_files)},
      {RLIMIT_NPROC, processes},
      {RLIMIT_CORE, Both(0)},
      {RLIMIT_MEMLOCK, Both(0)},
      {RLIMIT_MSGQUEUE, Both(0)},
      {RLIMIT_SIGPENDING, Both(64)},
  };
  for (const auto& each : kLimits) {
    if (!Set(each.resource, each.limit)) return false;
  }
  return true;
}

// The host enforces the CPU limit to the millisecond. This limit, in whole seconds, is a fallback
// in case the host is late. SIGKILL comes at the hard limit, whatever the guest does with SIGXCPU.
// Both terms are rounded separately: a request's limit comes in whole seconds and must not exceed
// the ceiling because of rounding.
rlim_t CpuSeconds(std::chrono::milliseconds cpu, std::chrono::milliseconds base) {
  return static_cast<rlim_t>(
      (std::chrono::ceil<std::chrono::seconds>(cpu) + std::chrono::ceil<std::chrono::seconds>(base))
          .count() +
      1);
}

}  // namespace

bool ApplyRlimits(const core::Limits& limits, uint64_t base_address_space,
                  std::chrono::milliseconds base_cpu) {
  return Apply(limits, base_address_space, Both(CpuSeconds(limits.cpu, base_cpu)),
               Both(limits.processes));
}

bool ApplyWaitingRlimits(const core::Limits& limits, uint64_t base_address_space,
                         std::chrono::milliseconds base_cpu) {
  // Our own may already be limited, as a container's can be.
  rlimit own{};
  if (getrlimit(RLIMIT_CPU, &own) != 0) return false;
  return Apply(limits, base_address_space,
               {CpuSeconds(limits.cpu, base_cpu), std::min(own.rlim_max, kMaxSessionCpu)},
               Both(limits.processes));
}

bool AllowCpu(std::chrono::seconds more) {
  rlimit limit{};
  timespec used{};
  if (getrlimit(RLIMIT_CPU, &limit) != 0 || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) {
    return false;
  }
  limit.rlim_cur =
      std::min(CpuSeconds(more, std::chrono::seconds(used.tv_sec + 1)), limit.rlim_max);
  return setrlimit(RLIMIT_CPU, &limit) == 0;
}

namespace {

bool ApplyToPrograms(const core::Limits& limits, Limit cpu) {
  return Apply(limits, kReservations, cpu, Both(limits.processes)) &&
         Set(RLIMIT_DATA, Both(limits.memory.count)) && Set(RLIMIT_STACK, Both(kProgramStack));
}

}  // namespace

bool ApplyProgramRlimits(const core::Limits& limits) {
  return ApplyToPrograms(limits, Both(CpuSeconds(limits.cpu, {})));
}

bool ApplyWaitingProgramRlimits(const core::Limits& limits) {
  rlimit own{};
  if (getrlimit(RLIMIT_CPU, &own) != 0) return false;
  return ApplyToPrograms(limits,
                         {CpuSeconds(limits.cpu, {}), std::min(own.rlim_max, kMaxSessionCpu)});
}

bool ApplyProgramSessionRlimits(const core::Limits& limits) {
  rlimit own{};
  return getrlimit(RLIMIT_CPU, &own) == 0 && ApplyToPrograms(limits, Both(own.rlim_max));
}

bool ApplySessionRlimits(const core::Limits& limits, uint64_t base_address_space) {
  return Apply(limits, base_address_space, {CpuSeconds(limits.cpu, {}), kMaxSessionCpu},
               {limits.processes, kMaxSessionProcesses});
}

}  // namespace belljar::seal
