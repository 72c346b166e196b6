// Whether the kernel has ended something in this container for want of memory: as its control group
// shows it, where the runtime shows the control group.
#ifndef BELLJAR_CONTAINER_INSIDE_MEMORY_EVENTS_H_
#define BELLJAR_CONTAINER_INSIDE_MEMORY_EVENTS_H_

#include <string_view>

#include "engine/host/outcome.h"

namespace belljar::container::inside {

// Of memory.events or memory.oom_control: whether "oom_kill" is more than none.
bool CountsOomKills(std::string_view events);

// A worker that the kernel killed for the memory of all is a memory limit, not a kill without a
// reason. The container lives on, so its engine may not know.
void ExplainOomKill(host::Outcome& outcome);

}  // namespace belljar::container::inside

#endif  // BELLJAR_CONTAINER_INSIDE_MEMORY_EVENTS_H_
