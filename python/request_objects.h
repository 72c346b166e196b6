// Converts the package's requests to values of the engine. The package has checked their types;
// what depends on the profile is checked here.
#ifndef BELLJAR_PYTHON_REQUEST_OBJECTS_H_
#define BELLJAR_PYTHON_REQUEST_OBJECTS_H_

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/host/request.h"
#include "python/engine.h"

namespace belljar::python {

// From an OpenRequest of _wire.py.
OpenRequest OpenRequestFrom(const pybind11::dict& options);

// From the same dict as RunRequestFrom. Throws BadArgument.
Defaults DefaultsFrom(const pybind11::dict& requested, const core::Profile& profile,
                      outside::Policy policy);

// Reads from the same dict only what decides which profile a program needs: source, files, imports.
host::Request ProgramFrom(const pybind11::dict& requested);

struct RunRequest {
  host::Request request;
  pybind11::object stream = pybind11::none();
  pybind11::object call = pybind11::none();
};

// From a RunRequest of _wire.py, which has only what differs from the defaults. Throws BadArgument.
RunRequest RunRequestFrom(const pybind11::dict& requested, const Engine& engine);

// With these default limits in place of the engine's.
RunRequest RunRequestFrom(const pybind11::dict& requested, const Engine& engine,
                          core::RequestedLimits limits);

struct SessionRequest {
  sessions::SessionOptions options;
  core::RequestedLimits limits;  // those limits of its cells that differ from the profile's
};

// From a SessionRequest of _wire.py. Throws BadArgument.
SessionRequest SessionRequestFrom(const pybind11::dict& requested, const Engine& engine);

// From pairs of path and content, for the workspace. Throws BadArgument.
std::vector<host::InputFile> FilesFrom(const pybind11::handle& list, const core::Profile& profile);

// "5s", "1.5", "500ms": milliseconds. "64m": bytes. Throw BadArgument.
int64_t ParseMilliseconds(const std::string& text);
uint64_t ParseBytes(const std::string& text);

}  // namespace belljar::python

#endif  // BELLJAR_PYTHON_REQUEST_OBJECTS_H_
