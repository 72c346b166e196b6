#ifndef BELLJAR_TOOLS_CMAKE_PRECOMPILED_TESTS_H_
#define BELLJAR_TOOLS_CMAKE_PRECOMPILED_TESTS_H_

#include <gtest/gtest.h>

#include "tools/cmake/precompiled/json.h"

#endif  // BELLJAR_TOOLS_CMAKE_PRECOMPILED_TESTS_H_
