// Whether the kernel has killed something in this container for lack of memory, according to its
// control group, if the runtime shows it.
#ifndef BELLJAR_CONTAINER_INSIDE_MEMORY_EVENTS_H_
#define BELLJAR_CONTAINER_INSIDE_MEMORY_EVENTS_H_

#include <string_view>

#include "engine/host/outcome.h"

namespace belljar::container::inside {

// From memory.events or memory.oom_control: whether "oom_kill" is above zero.
bool CountsOomKills(std::string_view events);

// If the kernel killed a worker because the container ran out of memory, that is a memory limit,
// not an unexplained kill. The container itself survives, so its engine may not know.
void ExplainOomKill(host::Outcome& outcome);

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_MEMORY_EVENTS_H_
