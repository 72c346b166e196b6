// The files of a call: an array of {path, text} or {path, base64}. Schema, validation and parsing
// of such lists; valid paths are defined by the engine (engine/workspace/workspace.h).
#ifndef BELLJAR_SERVER_TOOLS_FILE_LIST_H_
#define BELLJAR_SERVER_TOOLS_FILE_LIST_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/host/request.h"

namespace belljar::server::tools {

// JSON Schema of one item; `max_bytes` is the limit for all contents in total.
nlohmann::ordered_json FileSchema(size_t max_bytes);

// One line per invalid item, such as "item 2 has neither text nor base64"; empty if all are valid.
std::vector<std::string> FileListProblems(const nlohmann::json& list, size_t max_bytes);

// Precondition: the list has no problems.
std::vector<host::InputFile> ReadFileList(const nlohmann::json& list);

}  // namespace belljar::server::tools

#endif  // BELLJAR_SERVER_TOOLS_FILE_LIST_H_
