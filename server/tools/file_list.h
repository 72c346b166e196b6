// The files that a call brings along: an array of {path, text} or {path, base64}. How such a list
// is described, judged and read; what a path may be is the engine's to say
// (engine/outside/workspace.h).
#ifndef BELLJAR_SERVER_TOOLS_FILE_LIST_H_
#define BELLJAR_SERVER_TOOLS_FILE_LIST_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/host/request.h"

namespace belljar::server::tools {

// JSON Schema of one item; `max_bytes` are those of all contents together.
nlohmann::ordered_json FileSchema(size_t max_bytes);

// One line for each item that is wrong, such as "item 2 has neither text nor base64"; empty: they
// are sound.
std::vector<std::string> FileListProblems(const nlohmann::json& list, size_t max_bytes);

// Of a list without problems.
std::vector<host::InputFile> ReadFileList(const nlohmann::json& list);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_FILE_LIST_H_
