// What the package hands over, as values of the engine's. The package has checked types; what takes
// knowledge of the profile is checked here.
#ifndef BELLJAR_PYTHON_REQUEST_OBJECTS_H_
#define BELLJAR_PYTHON_REQUEST_OBJECTS_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/core/request.h"
#include "python/engine.h"

namespace belljar::python {

// Of the dict that Sandbox keeps: see _host.pyi.
Wishes WishesFrom(const pybind11::dict& options);

// What runs have that do not say, as far as it takes knowledge of the profile: of a dict as for
// RequestFrom. Throws BadArgument.
void CheckUsual(const pybind11::dict& asked, const Profile& profile, Language language);

// Of the dict that a run is asked for with: see _host.pyi. Throws BadArgument.
Request RequestFrom(const pybind11::dict& asked, const Opened& opened);

// "5s", "1.5", "500ms": milliseconds. "64m": bytes. Throw BadArgument.
int64_t ParseMilliseconds(const std::string& text);
uint64_t ParseBytes(const std::string& text);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_REQUEST_OBJECTS_H_
