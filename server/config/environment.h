// Settings from variables: the process environment and, if requested, a file such as .env.
#ifndef BELLJAR_SERVER_CONFIG_ENVIRONMENT_H_
#define BELLJAR_SERVER_CONFIG_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "server/config/settings.h"

namespace belljar::server::config {

inline constexpr char kConfigVariable[] = "BELLJAR_CONFIG";  // path of the configuration file
// The secret of the token "default".
inline constexpr char kTokenVariable[] = "BELLJAR_API_TOKEN";
inline constexpr char kLegacyTokenVariable[] = "SANDBOX_API_TOKEN";

struct Variable {
  std::string name;
  std::string value;
  Origin origin;
};

// Parses NAME=VALUE strings, as in environ.
std::vector<Variable> ReadEnvironment(const std::vector<std::string>& strings);

// KEY=VALUE lines with # comments, 'single' and "double" quotes and a leading "export". In double
// quotes \n, \t, \\, \" and \$ are escapes; nothing is ever expanded. Errors name the line but
// never show a value.
core::Result<std::vector<Variable>> ReadEnvironmentFile(const std::string& path);

// The effective variable: a later entry with the same name overrides an earlier one.
const Variable* FindVariable(const std::vector<Variable>& variables, std::string_view name);

// The settings in `variables`, which are all of one kind; lowest precedence first. An empty
// variable counts as unset.
std::vector<Given> SettingsOf(const std::vector<Variable>& variables);

// Unknown SANDBOX_ and BELLJAR_ names, each with a suggestion if there is one. `also_known` are
// names chosen by the operator.
std::vector<std::string> UnknownVariables(const std::vector<Variable>& variables,
                                          const std::vector<std::string>& also_known);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_ENVIRONMENT_H_
