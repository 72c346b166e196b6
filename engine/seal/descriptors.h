// Closes what a process must not take along: the last step before the filter.
#ifndef BELLJAR_ENGINE_SEAL_DESCRIPTORS_H_
#define BELLJAR_ENGINE_SEAL_DESCRIPTORS_H_

#include <array>

namespace belljar::seal {

// Closes all descriptors except 0 to 2 and the valid ones in `kept`. Async-signal-safe; false sets
// errno.
bool CloseAllBut(std::array<int, 4> kept);

}  // namespace belljar::seal

#endif  // BELLJAR_ENGINE_SEAL_DESCRIPTORS_H_
