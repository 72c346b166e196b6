// Turns a system call that the filter refuses into an ordinary EPERM, and notes which it was. One
// is answered instead, since its truth is known without the kernel: whether a file is locked.
#ifndef BELLJAR_ENGINE_INSIDE_DENIALS_H_
#define BELLJAR_ENGINE_INSIDE_DENIALS_H_

#include "engine/core/result.h"

namespace belljar::inside {

// Zygote, once: the handler is inherited by every worker. The filter itself refuses to let guest
// code replace it; should it be lost all the same, SIGSYS kills.
core::Result<void> InstallDenialHandler();

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_DENIALS_H_
