// Turns a system call that the filter refuses into an ordinary EPERM, and records it. F_GETLK is
// answered instead, since the answer is known without the kernel.
#ifndef BELLJAR_ENGINE_INSIDE_DENIALS_H_
#define BELLJAR_ENGINE_INSIDE_DENIALS_H_

#include "engine/core/result.h"

namespace belljar::inside {

// Zygote, once: every worker inherits the handler. The filter prevents guest code from replacing
// it. If it is lost nevertheless, SIGSYS kills.
core::Result<void> InstallDenialHandler();

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_DENIALS_H_
