// Settings from variables: the process's own and, when asked for, those of a file such as .env.
#ifndef BELLJAR_SERVER_CONFIG_ENVIRONMENT_H_
#define BELLJAR_SERVER_CONFIG_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/result.h"
#include "server/config/settings.h"

namespace belljar::server::config {

inline constexpr char kConfigVariable[] = "BELLJAR_CONFIG";  // names the file
// The secret of the token "default".
inline constexpr char kTokenVariable[] = "BELLJAR_API_TOKEN";
inline constexpr char kFamiliarTokenVariable[] = "SANDBOX_API_TOKEN";

struct Variable {
  std::string name;
  std::string value;
  Origin origin;
};

// Of NAME=VALUE strings, as environ holds them.
std::vector<Variable> ReadEnvironment(const std::vector<std::string>& strings);

// KEY=VALUE lines with # comments, 'single' and "double" quotes and a leading "export". In double
// quotes \n, \t, \\, \" and \$ are what they are in a shell; nothing is ever expanded. Errors name
// the line and show no value.
core::Result<std::vector<Variable>> ReadEnvironmentFile(const std::string& path);

// The variables that win: a later entry of the same name replaces an earlier one.
const Variable* FindVariable(const std::vector<Variable>& variables, std::string_view name);

// What `variables`, all of one kind, say of the settings; weaker ones first. An empty variable
// counts as not set.
std::vector<Given> SettingsOf(const std::vector<Variable>& variables);

// SANDBOX_ and BELLJAR_ names that mean nothing, with a suggestion each: "SANDBOX_TIMOUT is …".
// `also_known` are names that the operator chose.
std::vector<std::string> UnknownVariables(const std::vector<Variable>& variables,
                                          const std::vector<std::string>& also_known);

}  // namespace belljar::server::config

#endif  // BELLJAR_SERVER_CONFIG_ENVIRONMENT_H_
