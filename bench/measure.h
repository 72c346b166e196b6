// Belljar itself under measurement, through the library.
#ifndef BELLJAR_BENCH_MEASURE_H_
#define BELLJAR_BENCH_MEASURE_H_

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/profile.h"
#include "engine/host/request.h"
#include "engine/outside/sandbox.h"

namespace belljar::bench {

// Ends the program with a message when it cannot be opened.
std::unique_ptr<outside::Sandbox> OpenOrExit(const core::Profile& profile, size_t spares);

// Blocks until every spare waits, and a moment longer, so that nothing of the refill is left on the
// processors.
void Settle(const outside::Sandbox& sandbox, size_t spares);

struct RunTime {
  double total = 0;   // ms, as the caller of Run sees it
  double worker = 0;  // ms, of it from sending the request to having read the report
};
// Ends the program with a message when the guest's code does not succeed.
RunTime TimeRun(outside::Sandbox& sandbox, const host::Request& request);

// `source` with the limits that a profile gives when none are asked for.
host::Request WithDefaults(const core::Profile& profile, std::string source);

struct Load {
  double per_second = 0;
  double worker_cpu = 0;  // ms a run: user and system time of the workers, sealing included
  double host_cpu = 0;    // ms a run: of this process
  double zygote_cpu = 0;  // ms a run
};
Load MeasureLoad(outside::Sandbox& sandbox, const host::Request& request, int clients,
                 std::chrono::milliseconds duration);

// Milliseconds until `count` runs are done, with one client for each core and one more.
double TimeBatch(outside::Sandbox& sandbox, const host::Request& request, int count);

// MiB that only that process has, for each waiting worker.
std::vector<double> PrivateMemoryOfSpares(const outside::Sandbox& sandbox);

// Milliseconds from Sandbox::Open to the first outcome.
double TimeFirstResult(const host::Request& request, const core::Profile& profile);

// Milliseconds of user and system time; 0 when the process is gone.
double CpuOfProcess(pid_t pid);

}  // namespace belljar::bench

#endif  // BELLJAR_BENCH_MEASURE_H_
