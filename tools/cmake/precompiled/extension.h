#ifndef BELLJAR_TOOLS_CMAKE_PRECOMPILED_EXTENSION_H_
#define BELLJAR_TOOLS_CMAKE_PRECOMPILED_EXTENSION_H_

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "tools/cmake/precompiled/json.h"

#endif  // BELLJAR_TOOLS_CMAKE_PRECOMPILED_EXTENSION_H_
