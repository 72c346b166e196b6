// SealStep: a step of sealing a worker, and SealFailure, the step that failed. Sent to the host as
// numbers (core/wire.h): a worker that could not seal itself allocates nothing for its last words.
#ifndef BELLJAR_ENGINE_SEAL_SEAL_STEP_H_
#define BELLJAR_ENGINE_SEAL_SEAL_STEP_H_

#include <cstdint>

namespace belljar::seal {

enum class SealStep : uint32_t {
  kNone = 0,
  kDeathSignal,
  kWorkspace,
  kProcesses,
  kTerminals,
  kLoopback,
  kEgress,
  kUser,
  kPrivileges,
  kRlimits,
  kLandlock,
  kDescriptors,
  kSeccomp,
  kPython,  // after the seal: restoring the interpreter after clone
  kCapture,
};
const char* SealStepName(SealStep step);

struct SealFailure {
  SealStep step = SealStep::kNone;
  int error_number = 0;
};

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_SEAL_STEP_H_
