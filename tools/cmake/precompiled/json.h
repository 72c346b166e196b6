// Headers included by most rooms of the host that are slow to compile.
#ifndef BELLJAR_TOOLS_CMAKE_PRECOMPILED_JSON_H_
#define BELLJAR_TOOLS_CMAKE_PRECOMPILED_JSON_H_

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "engine/host/json_templates.h"

#endif  // BELLJAR_TOOLS_CMAKE_PRECOMPILED_JSON_H_
