// SelfReport: what a worker finds out about its own seal while it still runs only our code, for the
// host, which compares it with what it sees from outside (outside/observe.h). Needed for what no
// kernel shows from outside (Landlock), and for what some do not show (/proc of gVisor of 2022 has
// neither no_new_privs nor the number of filters).
#ifndef BELLJAR_ENGINE_SEAL_SELF_REPORT_H_
#define BELLJAR_ENGINE_SEAL_SELF_REPORT_H_

#include <cstdint>

namespace belljar::seal {

// A bit set.
using SelfReport = uint32_t;
inline constexpr SelfReport kLandlockRefuses = 1;  // LandlockRefusesRoot
inline constexpr SelfReport kNoPrivileges = 2;     // HasNoPrivileges
// The filter refuses a call that was allowed before it.
inline constexpr SelfReport kFilterRefuses = 4;

// Worker, before its filter, which refuses prctl: whether it has given up its privileges, and
// whether a filter that it has inherited already refuses the call that its own is tested with.
// Async-signal-safe, as is the rest of this file.
struct SealBeforeFilter {
  bool no_privileges = false;
  bool runs_programs = false;  // SealPlan's
  bool clone_refused = false;
};
SealBeforeFilter LookBeforeFilter(bool root_of_one_user, bool runs_programs);

// Worker, after its filter.
SelfReport ReportOnSeal(SealBeforeFilter before);

// True if Landlock refuses what no other layer would: listing the root directory.
bool LandlockRefusesRoot();

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_SELF_REPORT_H_
