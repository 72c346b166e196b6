#include "server/config/load.h"

#include <sys/stat.h>

#include <algorithm>

#include "engine/core/text.h"
#include "server/config/environment.h"
#include "server/config/resolve.h"
#include "server/config/settings.h"
#include "server/config/tokens.h"
#include "server/config/toml_file.h"
#include "server/config/webhooks.h"

namespace belljar::server::config {
namespace {

using Strings = std::vector<std::string>;

constexpr char kUserFile[] = "/belljar/config.toml";
constexpr char kSystemFile[] = "/etc/belljar/config.toml";

// All inputs, not yet validated.
struct Inputs {
  std::vector<Variable> from_env_file;
  std::vector<Variable> from_environment;
  std::string file;
  TomlFile toml;

  // The process environment overrides the environment file.
  const Variable* Find(std::string_view name) const {
    const Variable* variable = FindVariable(from_environment, name);
    return variable ? variable : FindVariable(from_env_file, name);
  }
};

std::string UserFile(const Inputs& inputs) {
  const Variable* xdg = FindVariable(inputs.from_environment, "XDG_CONFIG_HOME");
  // XDG Base Directory Specification: a relative path is invalid and must be ignored.
  if (xdg && xdg->value.starts_with('/')) return xdg->value + kUserFile;
  const Variable* home = FindVariable(inputs.from_environment, "HOME");
  if (home && home->value.starts_with('/')) return home->value + "/.config" + kUserFile;
  return "";
}

// False: no such file. A file that cannot be examined counts as existing: reading it reports why.
bool Exists(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

// The configuration file to read; empty: none.
std::string ChooseFile(const ConfigSources& sources, const Inputs& inputs) {
  if (sources.file) return AbsolutePath(*sources.file, {});
  const Variable* named = inputs.Find(kConfigVariable);
  if (named && !named->value.empty()) return AbsolutePath(named->value, {});
  for (const std::string& path : {UserFile(inputs), std::string(kSystemFile)}) {
    if (!path.empty() && Exists(path)) return path;
  }
  return "";
}

core::Result<Inputs> ReadInputs(const ConfigSources& sources) {
  Inputs inputs;
  inputs.from_environment = ReadEnvironment(sources.environment);
  if (sources.env_file) {
    core::Result<std::vector<Variable>> variables = ReadEnvironmentFile(*sources.env_file);
    if (!variables) return variables.error();
    inputs.from_env_file = std::move(*variables);
  }
  inputs.file = ChooseFile(sources, inputs);
  if (inputs.file.empty()) return inputs;
  core::Result<TomlFile> toml = ReadTomlFile(inputs.file);
  if (!toml) return toml.error();
  inputs.toml = std::move(*toml);
  return inputs;
}

// An unknown name with one of our prefixes is an error in an environment file, which was written
// for Belljar, and a warning in the environment, where it may belong to another program.
core::Result<void> CheckVariables(const Inputs& inputs, Strings& warnings) {
  Strings chosen;
  for (const TokenEntry& entry : inputs.toml.tokens) {
    if (!entry.variable.empty()) chosen.push_back(entry.variable);
  }
  for (const WebhookEntry& entry : inputs.toml.webhooks) {
    if (!entry.variable.empty()) chosen.push_back(entry.variable);
  }
  const Strings unknown = UnknownVariables(inputs.from_env_file, chosen);
  if (!unknown.empty()) return core::MakeError(unknown[0], "");
  for (std::string& warning : UnknownVariables(inputs.from_environment, chosen)) {
    warnings.push_back(std::move(warning));
  }
  const Setting& imports = *FindSetting("execution.allowed_imports");
  for (const std::string& name : {imports.familiar, imports.Variable()}) {
    const Variable* variable = inputs.Find(name);
    if (!variable || !variable->value.empty()) continue;
    warnings.push_back(variable->origin.place +
                       ": it is empty and counts as unset; to allow no module at all, write "
                       "allowed_imports = [] in [execution] of the file");
  }
  return {};
}

std::vector<Given> SettingsOfFlags(const ConfigSources& sources) {
  std::vector<Given> given;
  for (const Setting& setting : Settings()) {
    const auto found = sources.flags.find(setting.flag);
    if (setting.flag.empty() || found == sources.flags.end()) continue;
    Origin origin;
    origin.kind = Origin::Kind::kFlag;
    origin.source = "flag " + setting.flag;
    origin.place = setting.flag;
    given.push_back({&setting, found->second, std::move(origin)});
  }
  for (const FormerName& former : FormerNames()) {
    const auto found = sources.flags.find(former.flag);
    if (found == sources.flags.end()) continue;
    Origin origin;
    origin.kind = Origin::Kind::kFlag;
    origin.source = "flag " + former.flag;
    origin.place = former.flag;
    given.push_back({FindSetting(former.setting), found->second, std::move(origin), &former});
  }
  return given;
}

// Gives an entry with a former name the present value. `all`: of the same source, in which the
// setting may also be under its present name.
core::Result<void> Modernize(Given& entry, const std::vector<Given>& all, Strings& warnings) {
  if (!entry.former) return {};
  const Setting& setting = *entry.setting;
  const auto& values = entry.former->values;
  const auto known =
      std::ranges::find(values, entry.values[0], &std::pair<std::string, std::string>::first);
  if (known == values.end()) {
    Strings choices;
    for (const auto& [former, present] : values) choices.push_back(former);
    return core::MakeError(entry.origin.place + " " + core::Quoted(entry.values[0]),
                           "it is now " + setting.key + ": write one of " + setting.value_type +
                               " there, or one of " + core::Joined(choices) + " here");
  }
  entry.values = {known->second};
  for (const Given& other : all) {
    if (other.setting != entry.setting || other.former || other.values == entry.values) continue;
    return core::MakeError(entry.origin.place + " " + core::Quoted(known->first),
                           "it contradicts " + other.origin.place + " " +
                               core::Quoted(other.values[0]) + ", its new name; remove it");
  }
  if (entry.origin.kind != Origin::Kind::kFlag) {
    warnings.push_back(entry.origin.place + ": it is now " + setting.key + " = " +
                       core::Quoted(known->second));
  }
  return {};
}

// From lowest to highest precedence: the last value counts, but every value must be valid.
core::Result<void> ApplyAll(const Inputs& inputs, const ConfigSources& sources, Loading& loading) {
  for (const std::vector<Given>& given :
       {inputs.toml.given, SettingsOf(inputs.from_env_file), SettingsOf(inputs.from_environment),
        SettingsOfFlags(sources)}) {
    for (Given entry : given) {
      core::Result<void> applied = Modernize(entry, given, loading.warnings);
      if (applied) applied = Apply(entry, loading.draft);
      if (!applied) return applied;
      loading.origins[entry.setting->key] = entry.origin;
    }
  }
  return {};
}

// --- tokens -----------------------------------------------------------------------------------

core::Result<void> AddVariableToken(const Variable& variable, Loading& loading) {
  core::Result<std::string> secret = CheckSecret(variable.value, variable.origin.place);
  if (!secret) return secret.error();
  LoadedToken loaded;
  loaded.token.secret = std::move(*secret);
  loaded.token.caller.name = kDefaultToken;
  loaded.from = variable.origin.source;
  loaded.origin = variable.origin;
  loading.tokens.push_back(std::move(loaded));
  return {};
}

core::Result<void> AddFileToken(const Origin& origin, Loading& loading) {
  const std::string path = AbsolutePath(loading.draft.token_file, origin);
  core::Result<std::string> secret = ReadTokenFile(path, origin.place, loading.warnings);
  if (!secret) return secret.error();
  LoadedToken loaded;
  loaded.token.secret = std::move(*secret);
  loaded.token.caller.name = kDefaultToken;
  loaded.from = "file " + core::Printable(path);
  loaded.origin = origin;
  loading.tokens.push_back(std::move(loaded));
  return {};
}

// The token named "default": from a variable or http.token_file, whichever has precedence.
core::Result<void> AddDefaultToken(const Inputs& inputs, Loading& loading) {
  const Variable* variable = inputs.Find(kTokenVariable);
  if (!variable) variable = inputs.Find(kLegacyTokenVariable);
  const Origin file = loading.OriginOf("http.token_file");
  const bool has_file = !loading.draft.token_file.empty();
  if (variable && has_file && file.kind == Origin::Kind::kEnvironment) {
    return core::MakeError(file.place, "so is " + variable->name +
                                           ", and both are the token \"default\"; set one of them");
  }
  if (variable && file.kind != Origin::Kind::kFlag) {
    if (has_file) loading.notes["http.token_file"] = "not read: overridden by " + variable->name;
    return AddVariableToken(*variable, loading);
  }
  return has_file ? AddFileToken(file, loading) : core::Result<void>();
}

// Tokens, and webhooks for their events.
core::Result<void> AddEntries(const Inputs& inputs, Loading& loading) {
  if (core::Result<void> added = AddDefaultToken(inputs, loading); !added) return added;
  std::vector<Variable> variables = inputs.from_env_file;
  variables.insert(variables.end(), inputs.from_environment.begin(), inputs.from_environment.end());
  for (const TokenEntry& entry : inputs.toml.tokens) {
    core::Result<LoadedToken> loaded = LoadToken(entry, variables, loading.warnings);
    if (!loaded) return loaded.error();
    loading.tokens.push_back(std::move(*loaded));
  }
  if (core::Result<void> checked = CheckTokens(loading.tokens); !checked) return checked;
  for (const WebhookEntry& entry : inputs.toml.webhooks) {
    core::Result<LoadedWebhook> loaded = LoadWebhook(entry, variables, loading.warnings);
    if (!loaded) return loaded.error();
    loading.webhooks.push_back(std::move(*loaded));
  }
  return CheckWebhooks(loading.webhooks, loading.tokens);
}

// --- the result -------------------------------------------------------------------------------

std::vector<SettingValue> ShowSettings(const Loading& loading) {
  std::vector<SettingValue> values;
  for (const Setting& setting : Settings()) {
    const Origin origin = loading.OriginOf(setting.key);
    SettingValue value;
    value.key = setting.key;
    value.value = ShowField(setting, loading.draft);
    value.literal = FieldLiteral(setting, loading.draft);
    value.source = origin.source;
    value.is_default = origin.kind == Origin::Kind::kDefault;
    const auto note = loading.notes.find(setting.key);
    if (note != loading.notes.end()) value.note = note->second;
    values.push_back(std::move(value));
  }
  return values;
}

LoadedConfig Finish(Loading loading, std::string file) {
  LoadedConfig loaded;
  loaded.file = std::move(file);
  loaded.settings = ShowSettings(loading);
  loaded.config = std::move(loading.draft.config);
  if (loading.draft.listen) {
    loaded.config.http = std::move(loading.draft.http);
    loaded.config.http->address = loading.draft.listen->address;
    loaded.config.http->port = loading.draft.listen->port;
  }
  for (LoadedToken& token : loading.tokens) {
    loaded.tokens.push_back({token.token.caller, token.from, token.origin.source, token.file,
                             token.variable, !token.file.empty() || !token.variable.empty()});
    loaded.config.tokens.push_back(std::move(token.token));
  }
  for (LoadedWebhook& webhook : loading.webhooks) {
    loaded.webhooks.push_back(
        {webhook.webhook, webhook.from, webhook.origin.source, webhook.file, webhook.variable});
    loaded.webhooks.back().webhook.secret.clear();
    loaded.config.webhooks.push_back(std::move(webhook.webhook));
  }
  loaded.warnings = std::move(loading.warnings);
  return loaded;
}

}  // namespace

core::Result<LoadedConfig> LoadConfig(const ConfigSources& sources,
                                      const profiles::ProfileCatalogue& catalogue) {
  const ConfigSources nothing;
  Loading loading;
  Inputs inputs;
  if (!sources.only_defaults) {
    core::Result<Inputs> read = ReadInputs(sources);
    if (!read) return read.error();
    inputs = std::move(*read);
  }
  if (core::Result<void> checked = CheckVariables(inputs, loading.warnings); !checked) {
    return checked.error();
  }
  if (core::Result<void> applied =
          ApplyAll(inputs, sources.only_defaults ? nothing : sources, loading);
      !applied) {
    return applied.error();
  }
  if (core::Result<void> added = AddEntries(inputs, loading); !added) return added.error();
  if (core::Result<void> resolved = Resolve(loading, catalogue); !resolved) return resolved.error();
  return Finish(std::move(loading), std::move(inputs.file));
}

}  // namespace belljar::server::config
