// Measures Belljar through the library.
#ifndef BELLJAR_BENCH_MEASURE_H_
#define BELLJAR_BENCH_MEASURE_H_

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bench/report.h"
#include "engine/core/profile.h"
#include "engine/host/outcome.h"
#include "engine/host/request.h"
#include "engine/outside/sandbox.h"

namespace belljar::bench {

// Exits with a message if it cannot be opened.
std::unique_ptr<outside::Sandbox> OpenOrExit(const core::Profile& profile, size_t spares);

// Blocks until all spares are ready, and a moment longer, so that the refill no longer uses the
// processors.
void Settle(const outside::Sandbox& sandbox, size_t spares);

struct RunTime {
  double total = 0;   // ms, as seen by the caller of Run
  double worker = 0;  // ms, the part from sending the request to reading the report
};
// Exits with a message if the guest's code does not end with `status`.
RunTime TimeRun(outside::Sandbox& sandbox, const host::Request& request,
                host::Status status = host::Status::kOk);

// `source` with the profile's default limits.
host::Request WithDefaults(const core::Profile& profile, std::string source);

struct Load {
  double per_second = 0;
  double worker_cpu = 0;  // ms per run: user and system time of the workers, including sealing
  double host_cpu = 0;    // ms per run: of this process
  double zygote_cpu = 0;  // ms per run
};
Load MeasureLoad(outside::Sandbox& sandbox, const host::Request& request, size_t clients,
                 std::chrono::milliseconds duration);

// Adds the milliseconds of each run, seen by `clients` that start their next run at once.
void MeasureLatencies(outside::Sandbox& sandbox, const host::Request& request, size_t clients,
                      std::chrono::milliseconds duration, Series& series);

// Milliseconds for `count` runs, with one client more than there are cores.
double TimeBatch(outside::Sandbox& sandbox, const host::Request& request, int count);

// Private memory of each waiting worker, in MiB.
std::vector<double> PrivateMemoryOfSpares(const outside::Sandbox& sandbox);

// Proportional memory (Pss), in MiB: of the zygote or launcher, and of a waiting worker with what
// is started ahead in it. Requires that this process has no other sandbox.
struct SandboxMemory {
  double zygote = 0;
  double spare = 0;
};
SandboxMemory ProportionalMemory(const outside::Sandbox& sandbox, size_t spares);

// Milliseconds from Sandbox::Open to the first outcome.
double TimeFirstResult(const host::Request& request, const core::Profile& profile);

// Milliseconds of user and system time; 0 if the process is gone.
double CpuOfProcess(pid_t pid);

}  // namespace belljar::bench

#endif  // BELLJAR_BENCH_MEASURE_H_
