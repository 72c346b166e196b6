// Places: where the program is when the host stops it. The host sends a signal before it kills the
// worker (run/places.h), whose handler writes the innermost lines of the program into the capture
// and ends the process. A run that ends by itself never gets the signal.
//
// The handler may run in the middle of anything. What it has to read is there already, and nothing
// runs after it. If it crashes or hangs, nothing is known about the place.
#ifndef BELLJAR_ENGINE_INSIDE_PLACES_H_
#define BELLJAR_ENGINE_INSIDE_PLACES_H_

#include <string>
#include <vector>

#include "engine/core/result.h"

namespace belljar::inside {

// Zygote, once: every worker inherits the handler, and the filter does not let guest code replace
// it. Files below the `library` folders are none of the program's.
core::Result<void> InstallPlacesHandler(std::vector<std::string> library);

}  // namespace belljar::inside

#endif  // BELLJAR_ENGINE_INSIDE_PLACES_H_
