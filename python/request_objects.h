// What the package hands over, as values of the engine's. The package has checked types; what takes
// knowledge of the profile is checked here.
#ifndef BELLJAR_PYTHON_REQUEST_OBJECTS_H_
#define BELLJAR_PYTHON_REQUEST_OBJECTS_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/host/request.h"
#include "python/engine.h"

namespace belljar::python {

// Of the dict that Sandbox keeps: see _host.pyi.
OpenRequest OpenRequestFrom(const pybind11::dict& options);

// Of a dict as for RunRequestFrom. Throws BadArgument.
Defaults DefaultsFrom(const pybind11::dict& requested, const core::Profile& profile,
                      outside::Language language);

struct RunRequest {
  host::Request request;
  pybind11::object stream = pybind11::none();
  pybind11::object call = pybind11::none();
};

// Of the dict that a run is asked for with, which holds what is not usual: see _wire.py. Throws
// BadArgument.
RunRequest RunRequestFrom(const pybind11::dict& requested, const Engine& engine);

// With these limits in place of the engine's.
RunRequest RunRequestFrom(const pybind11::dict& requested, const Engine& engine,
                          core::RequestedLimits limits);

struct SessionRequest {
  outside::SessionOptions options;
  core::RequestedLimits limits;  // those of its cells that are not the profile's
};

// Of the dict that a session is asked for with. Throws BadArgument.
SessionRequest SessionRequestFrom(const pybind11::dict& requested, const Engine& engine);

// Pairs of a path and its content, for the workspace. Throws BadArgument.
std::vector<host::InputFile> FilesFrom(const pybind11::handle& list, const core::Profile& profile);

// "5s", "1.5", "500ms": milliseconds. "64m": bytes. Throw BadArgument.
int64_t ParseMilliseconds(const std::string& text);
uint64_t ParseBytes(const std::string& text);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_REQUEST_OBJECTS_H_
