// The API as an OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.0), generated from the
// table of operations and the schemas of the tools.
#ifndef BELLJAR_SERVER_REST_OPEN_API_H_
#define BELLJAR_SERVER_REST_OPEN_API_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "server/calls/tool.h"
#include "server/rest/operations.h"

namespace belljar::server::rest {

// Null: no such tool.
const ToolDescription* FindDescription(const std::vector<std::shared_ptr<Tool>>& tools,
                                       std::string_view name);

// The arguments of `operation` in its body, as JSON Schema: the tool's arguments, except those that
// are fixed or elsewhere in the request.
nlohmann::ordered_json BodySchema(const Operation& operation, const ToolDescription& tool);

// `answers`: the full answers, by tool.
nlohmann::ordered_json OpenApi(const std::vector<Operation>& operations,
                               const std::vector<std::shared_ptr<Tool>>& tools,
                               const nlohmann::ordered_json& answers, const std::string& version,
                               bool has_tokens);

}  // namespace belljar::server::rest

#endif  // BELLJAR_SERVER_REST_OPEN_API_H_
