#include "engine/seal/seal_step.h"

namespace belljar::seal {

const char* SealStepName(SealStep step) {
  switch (step) {
    case SealStep::kNone: return "none";
    case SealStep::kDeathSignal: return "parent death signal";
    case SealStep::kWorkspace: return "workspace";
    case SealStep::kTerminals: return "terminals";
    case SealStep::kProcesses: return "own /proc";
    case SealStep::kLoopback: return "loopback interface";
    case SealStep::kEgress: return "egress listener";
    case SealStep::kUser: return "user namespace";
    case SealStep::kPrivileges: return "privileges";
    case SealStep::kRlimits: return "rlimits";
    case SealStep::kLandlock: return "landlock";
    case SealStep::kDescriptors: return "descriptors";
    case SealStep::kSeccomp: return "seccomp";
    case SealStep::kPython: return "python after clone";
    case SealStep::kCapture: return "capture";
  }
  return "unknown";
}

}  // namespace belljar::seal
