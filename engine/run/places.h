// Where a program was when it was stopped, as its worker says (inside/places.h). Every byte of that
// is hostile.
#ifndef BELLJAR_ENGINE_RUN_PLACES_H_
#define BELLJAR_ENGINE_RUN_PLACES_H_

#include <string_view>

#include "engine/host/outcome.h"
#include "engine/host/request.h"

namespace belljar::run {

// Adds the line and a traceback to the error of an outcome, which is of a run that the host
// stopped. `recorded`: as in core/capture_layout.h. If it is empty or has another form, nothing is
// known.
void AddPlaces(std::string_view recorded, const host::Request& request, host::Outcome& outcome);

}  // namespace belljar::run

#endif  // BELLJAR_ENGINE_RUN_PLACES_H_
