// A clone of the zygote that runs what every worker will run, for the zygote to see which memory
// that takes (hot_pages.h, file_pages.h).
#ifndef BELLJAR_ENGINE_INSIDE_REHEARSAL_H_
#define BELLJAR_ENGINE_INSIDE_REHEARSAL_H_

#include <chrono>
#include <functional>

#include "engine/core/process.h"
#include "engine/core/result.h"

namespace belljar::inside {

// A rehearsal is optional; it must not keep the zygote from starting.
inline constexpr std::chrono::seconds kMaxRehearsal{10};  // it takes milliseconds

// The clone, which has run `rehearse` (or has died in it) and waits to be killed. An error if it
// has not finished after `longest`.
core::Result<core::Process> Rehearse(const std::function<void()>& rehearse,
                                     std::chrono::milliseconds longest = kMaxRehearsal);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_REHEARSAL_H_
