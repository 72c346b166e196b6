#include "engine/profiles/loader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/text.h"
#include "engine/host/limit_fields.h"
#include "engine/host/suggest.h"
#include "engine/profiles/toml_text.h"

namespace belljar::profiles {
namespace {

namespace fs = std::filesystem;

constexpr char kSeccompFile[] = "seccomp.toml";
constexpr char kExportsFolder[] = "exports";
constexpr std::string_view kPublic = "public";  // in exports: every recorded name
constexpr char kThreads[] = "threads";          // the group that no profile names
constexpr int64_t kSchema = 1;

// The allowed keys of each table. A table named "*" has arbitrary keys.
using Keys = std::vector<std::string>;
const Keys kProfileKeys = {"schema",    "name",   "extends",  "summary",   "attack_surface",
                           "limits",    "paths",  "seccomp",  "imports",   "modules",
                           "builtins",  "zygote", "packages", "workspace", "door",
                           "artifacts", "policy", "language", "for_tests", "program"};
const Keys kLimitKeys = {"default", "max", "why"};
const Keys kPathKeys = {"path", "optional", "device", "link", "why"};
const Keys kSeccompKeys = {"groups", "why"};
const Keys kImportKeys = {"internal", "open", "why"};
const Keys kModuleKeys = {"why", "exports", "replace", "synthetic", "since"};
const Keys kForTestsKeys = {"why", "exports"};
const Keys kBuiltinsKeys = {"why", "exports"};
const Keys kZygoteKeys = {"why", "environment", "huge_pages", "light"};
const Keys kPackageKeys = {"why", "modules", "rehearsal"};
const Keys kArtifactKeys = {"why", "size"};
const Keys kWorkspaceKeys = {"why", "size", "inodes"};
const Keys kProgramKeys = {
    "why",     "title", "aliases",      "extensions",     "interpreters", "package",
    "version", "file",  "command",      "compile",        "errors",       "environment",
    "example", "warm",  "compile_time", "compile_memory", "session",      "values",
    "shared",  "value", "shows",        "commands",       "prepare"};
const Keys kPrepareKeys = {"why", "command", "source", "file", "from"};
const Keys kValueKeys = {"why",   "strings",  "nul_in_strings", "null",   "true",
                         "false", "nan",      "infinity",       "big",    "list",
                         "map",   "entry",    "separator",      "vector", "nested",
                         "set",   "set_list", "set_map",        "get"};
const Keys kStringForms = {"json", "shell"};
const Keys kErrorKeys = {"pattern", "groups", "last"};
const Keys kErrorGroups = {"file", "line", "column", "type", "message", ""};
const Keys kEgressKeys = {"why", "port"};
const Keys kSeccompFileKeys = {"schema", "group", "spawning", "hostile"};
const Keys kSyscallKeys = {"calls", "when", "why"};
const Keys kSpawningKeys = {"calls", "with", "why"};
const Keys kConditionKeys = {"argument", "mask", "equals", "below"};

// Only thrown inside this file; the public functions turn it into an Error.
class Malformed : public std::runtime_error {
 public:
  Malformed(const toml::node& where, const std::string& what)
      : std::runtime_error(Place(where.source()) + what) {}

 private:
  static std::string Place(const toml::source_region& region) {
    const std::string file = region.path ? *region.path : std::string("profile");
    return file + ":" + std::to_string(region.begin.line) + ": ";
  }
};

void CheckKeys(const toml::table& table, const Keys& known) {
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Malformed(value, "unknown key \"" + name + "\"" + host::Suggestion(name, known));
  }
}

template <typename T>
T Get(const toml::table& table, const char* key) {
  const toml::node* node = table.get(key);
  if (!node) throw Malformed(table, std::string("missing \"") + key + "\"");
  const std::optional<T> value = node->value_exact<T>();
  if (!value) throw Malformed(*node, std::string("\"") + key + "\" has the wrong type");
  return *value;
}

const toml::table& GetTable(const toml::table& parent, const char* key) {
  const toml::node* node = parent.get(key);
  if (!node || !node->is_table()) {
    throw Malformed(node ? *node : parent, std::string("\"") + key + "\" must be a table");
  }
  return *node->as_table();
}

std::vector<std::string> GetStrings(const toml::table& table, const char* key) {
  const toml::node* node = table.get(key);
  const toml::array* array = node ? node->as_array() : nullptr;
  if (!array) throw Malformed(table, std::string("\"") + key + "\" must be a list of strings");
  std::vector<std::string> strings;
  for (const toml::node& item : *array) {
    const std::optional<std::string> text = item.value_exact<std::string>();
    if (!text) throw Malformed(item, std::string("\"") + key + "\" must be a list of strings");
    strings.push_back(*text);
  }
  return strings;
}

// The tables of an array of tables: [[paths]].
std::vector<const toml::table*> GetTables(const toml::table& parent, const char* key) {
  std::vector<const toml::table*> tables;
  const toml::node* node = parent.get(key);
  if (!node) return tables;
  const toml::array* array = node->as_array();
  if (!array) throw Malformed(*node, std::string("write [[") + key + "]]");
  for (const toml::node& item : *array) {
    if (!item.is_table()) throw Malformed(item, std::string("write [[") + key + "]]");
    tables.push_back(item.as_table());
  }
  return tables;
}

void CheckWhy(const toml::table& table) {
  if (Get<std::string>(table, "why").empty()) throw Malformed(table, "\"why\" is empty");
}

template <typename T>
T Unwrap(core::Result<T> result, const toml::node& where) {
  if (!result) throw Malformed(where, result.error().ToString());
  return std::move(*result);
}

toml::table Parse(const std::string& file) {
  core::Result<std::string> text = core::ReadFile(file, 4 << 20);
  if (!text) throw std::runtime_error(text.error().ToString());
  core::Result<toml::table> root = ParseToml(*text, file);
  if (!root) throw std::runtime_error(root.error().ToString());
  return std::move(*root);
}

// --- seccomp.toml -----------------------------------------------------------------------------

struct SyscallGroups {
  std::map<std::string, std::vector<core::SyscallRule>> groups;
  std::map<std::string, std::vector<std::string>> spawning;  // by purpose; "": always
  std::vector<std::string> hostile;
};

core::SyscallCondition ReadCondition(const toml::table& when) {
  CheckKeys(when, kConditionKeys);
  const int64_t argument = Get<int64_t>(when, "argument");
  if (argument < 0 || argument > 5) throw Malformed(when, "\"argument\" must be from 0 to 5");
  core::SyscallCondition condition;
  condition.argument = static_cast<unsigned>(argument);
  condition.below = when.contains("below");
  condition.value = static_cast<uint64_t>(Get<int64_t>(when, condition.below ? "below" : "equals"));
  if (when.contains("mask")) condition.mask = static_cast<uint64_t>(Get<int64_t>(when, "mask"));
  return condition;
}

// `when` is one table, or a list of tables that must all apply.
std::vector<core::SyscallCondition> ReadConditions(const toml::table& entry) {
  const toml::node* when = entry.get("when");
  if (!when) return {};
  if (!when->is_array()) return {ReadCondition(GetTable(entry, "when"))};
  std::vector<core::SyscallCondition> conditions;
  for (const toml::table* table : GetTables(entry, "when")) {
    const core::SyscallCondition condition = ReadCondition(*table);
    for (const core::SyscallCondition& other : conditions) {
      // libseccomp allows one comparison per argument.
      if (other.argument == condition.argument) {
        throw Malformed(*table, "two conditions of one argument");
      }
    }
    conditions.push_back(condition);
  }
  if (conditions.empty()) throw Malformed(*when, "\"when\" is empty");
  return conditions;
}

std::vector<std::string> ReadCalls(const toml::table& root, const char* key) {
  std::vector<std::string> all;
  for (const toml::table* entry : GetTables(root, key)) {
    CheckKeys(*entry, kSyscallKeys);
    CheckWhy(*entry);
    for (std::string& call : GetStrings(*entry, "calls")) all.push_back(std::move(call));
  }
  return all;
}

void ReadSpawning(const toml::table& root, SyscallGroups& syscalls) {
  for (const toml::table* entry : GetTables(root, "spawning")) {
    CheckKeys(*entry, kSpawningKeys);
    CheckWhy(*entry);
    const std::string with = entry->contains("with") ? Get<std::string>(*entry, "with") : "";
    if (!with.empty() && with != "workspace" && with != "door") {
      throw Malformed(*entry, "\"with\" must be \"workspace\" or \"door\"");
    }
    for (std::string& call : GetStrings(*entry, "calls")) {
      syscalls.spawning[with].push_back(std::move(call));
    }
  }
}

SyscallGroups ReadSyscalls(const std::string& file) {
  const toml::table root = Parse(file);
  CheckKeys(root, kSeccompFileKeys);
  if (Get<int64_t>(root, "schema") != kSchema) throw Malformed(root, "schema must be 1");
  SyscallGroups syscalls;
  const toml::table& groups = GetTable(root, "group");
  for (const auto& [key, value] : groups) {
    const std::string name(key.str());
    for (const toml::table* entry : GetTables(groups, name.c_str())) {
      CheckKeys(*entry, kSyscallKeys);
      CheckWhy(*entry);
      const std::vector<core::SyscallCondition> conditions = ReadConditions(*entry);
      for (std::string& call : GetStrings(*entry, "calls")) {
        syscalls.groups[name].push_back({std::move(call), conditions});
      }
    }
  }
  ReadSpawning(root, syscalls);
  syscalls.hostile = ReadCalls(root, "hostile");
  return syscalls;
}

// --- profiles ---------------------------------------------------------------------------------

// --- exports/NAME.txt: recorded names, for modules with too many to list by hand ----------------

using Exports = std::map<std::string, std::vector<std::string>>;

// Lines of "module name", generated by tools/surface.py; a missing file is an empty one.
Exports ReadExports(const std::string& file) {
  Exports exports;
  if (!fs::exists(file)) return exports;
  core::Result<std::string> text = core::ReadFile(file, 4 << 20);
  if (!text) throw std::runtime_error(text.error().ToString());
  std::string_view module;
  std::vector<std::string>* names = nullptr;
  for (const std::string_view line : core::SplitAt(*text, '\n')) {
    const size_t space = line.find(' ');
    if (space == line.npos) continue;
    // The lines of a module follow each other.
    if (!names || line.substr(0, space) != module) {
      module = line.substr(0, space);
      names = &exports[std::string(module)];
    }
    names->emplace_back(line.substr(space + 1));
  }
  return exports;
}

// The recorded names of each module with `exports = "public"`.
Exports SpelledOut(const toml::table& root, const std::string& file) {
  Exports spelled_out;
  const toml::table* modules = root["modules"].as_table();
  if (!modules) return spelled_out;
  std::optional<Exports> recorded;
  for (auto&& [key, value] : *modules) {
    const toml::table* module = value.as_table();
    const toml::node* exports = module ? module->get("exports") : nullptr;
    if (!exports || !exports->is_string()) continue;
    if (exports->value_exact<std::string>() != kPublic) {
      throw Malformed(*exports, "\"exports\" must be a list of names, or \"public\"");
    }
    if (!recorded) recorded = ReadExports(file);
    const std::string name(key.str());
    spelled_out[name] = std::move((*recorded)[name]);
  }
  return spelled_out;
}

// The 14 of "3.14".
int MinorVersion(std::string_view version, const toml::node& where) {
  constexpr std::string_view kMajor = "3.";
  int minor = 0;
  if (version.starts_with(kMajor)) {
    const char* const end = version.data() + version.size();
    const auto [stop, failure] = std::from_chars(version.data() + kMajor.size(), end, minor);
    if (failure == std::errc{} && stop == end) return minor;
  }
  throw Malformed(where, "\"since\" must be a version of Python, as \"3.14\"");
}

// Modules that only later Pythons than the embedded one have.
void DropLaterModules(toml::table& root) {
  toml::table* modules = root["modules"].as_table();
  if (!modules) return;
  std::vector<std::string> later;
  for (auto&& [key, value] : *modules) {
    const toml::table* module = value.as_table();
    if (!module || !module->contains("since")) continue;
    const std::string since = Get<std::string>(*module, "since");
    if (MinorVersion(since, *module) > MinorVersion(BELLJAR_PYTHON_MINOR, *module)) {
      later.emplace_back(key.str());
    }
  }
  for (const std::string& name : later) modules->erase(name);
}

// What a profile allows grows with each file that is read into it, the extended one first. So of
// two limits the larger applies, and a missing one changes nothing.
const toml::table* GetLimit(const toml::table& limits, const char* key, bool required) {
  if (!required && !limits.contains(key)) return nullptr;
  const toml::table& limit = GetTable(limits, key);
  CheckKeys(limit, kLimitKeys);
  CheckWhy(limit);
  return &limit;
}

template <typename T, typename ParseValue>
void ReadLimit(const toml::table* limit, ParseValue parse, T* defaults, T* maximum, bool first) {
  if (!limit) return;
  const T here = Unwrap(parse(Get<std::string>(*limit, "default")), *limit);
  const T max_here = Unwrap(parse(Get<std::string>(*limit, "max")), *limit);
  if (here > max_here) throw Malformed(*limit, "the default exceeds the maximum");
  *defaults = first ? here : std::max(*defaults, here);
  *maximum = first ? max_here : std::max(*maximum, max_here);
}

// Fixed for all runs of the profile.
void ReadCount(const toml::table* limit, uint32_t* defaults, uint32_t* maximum, bool first) {
  if (!limit) return;
  const int64_t count = Get<int64_t>(*limit, "default");
  if (count < 1 || count > 65536) throw Malformed(*limit, "must be from 1 to 65536");
  const auto here = static_cast<uint32_t>(count);
  *defaults = *maximum = first ? here : std::max(*defaults, here);
}

void ReadLimits(const toml::table& limits, core::Profile& profile, bool first) {
  Keys names;
  host::ForEachField<core::Limits>([&](auto row) { names.push_back(host::LimitKey(row)); });
  CheckKeys(limits, names);
  host::ForEachField<core::Limits>([&](auto row) {
    const std::string key = host::LimitKey(row);
    // Only profiles that can produce artifacts have limits for them.
    const toml::table* limit = GetLimit(limits, key.c_str(), first && !key.starts_with("artifact"));
    auto& defaults = row.Of(profile.default_limits);
    auto& maximum = row.Of(profile.maximum_limits);
    using Type = std::remove_cvref_t<decltype(defaults)>;
    if constexpr (host::DurationField<Type>) {
      ReadLimit(limit, core::ParseDuration, &defaults, &maximum, first);
    } else if constexpr (std::same_as<Type, core::Bytes>) {
      ReadLimit(limit, core::Bytes::Parse, &defaults, &maximum, first);
    } else {
      ReadCount(limit, &defaults, &maximum, first);
    }
  });
}

bool IsPlain(const std::string& path) {
  return path.starts_with('/') && fs::path(path).lexically_normal() == path && !path.ends_with('/');
}

// Whether it is in a worker's own file systems.
bool IsPrivate(const std::string& path) {
  return IsPlain(path) &&
         std::ranges::any_of(
             std::array{core::kWorkspacePath, core::kTemporaryPath},
             [&](const std::string& own) { return path == own || path.starts_with(own + "/"); });
}

void ReadPaths(const toml::table& root, core::Profile& profile) {
  for (const toml::table* entry : GetTables(root, "paths")) {
    CheckKeys(*entry, kPathKeys);
    CheckWhy(*entry);
    core::PathRule rule{Get<std::string>(*entry, "path"), false};
    if (entry->contains("optional")) rule.optional = Get<bool>(*entry, "optional");
    const bool is_placeholder = rule.path == "{stdlib}" || rule.path == "{program}" ||
                                rule.path == "{home}";  // the last two: languages.h
    if (!is_placeholder && !rule.path.starts_with('/')) {
      throw Malformed(*entry, "\"path\" must be absolute or {stdlib}");
    }
    if (entry->contains("device")) rule.device = Get<bool>(*entry, "device");
    if (rule.device && std::ranges::find(core::kDevices, rule.path) == std::end(core::kDevices)) {
      throw Malformed(*entry, "\"device\" is for /dev/null, /dev/zero and /dev/urandom");
    }
    if (entry->contains("link")) {
      rule.source = Get<std::string>(*entry, "link");
      rule.is_link = true;
      if (is_placeholder || rule.device || !IsPlain(rule.path) || !IsPrivate(rule.source)) {
        throw Malformed(*entry,
                        "\"link\" is for an absolute path, and leads to /workspace, /tmp or "
                        "below them, without . or ..");
      }
    }
    const auto same = [&](const core::PathRule& known) { return known.path == rule.path; };
    if (std::any_of(profile.paths.begin(), profile.paths.end(), same)) continue;
    profile.paths.push_back(std::move(rule));
  }
}

void ReadSeccomp(const toml::table& root, const SyscallGroups& syscalls, core::Profile& profile,
                 bool first) {
  if (!first && !root.contains("seccomp")) return;
  const toml::table& seccomp = GetTable(root, "seccomp");
  CheckKeys(seccomp, kSeccompKeys);
  CheckWhy(seccomp);
  for (const std::string& group : GetStrings(seccomp, "groups")) {
    const auto found = syscalls.groups.find(group);
    if (found == syscalls.groups.end()) {
      Keys known;
      for (const auto& [name, rules] : syscalls.groups) known.push_back(name);
      throw Malformed(seccomp, "unknown group \"" + group + "\"" + host::Suggestion(group, known));
    }
    profile.allowed_syscalls.insert(profile.allowed_syscalls.end(), found->second.begin(),
                                    found->second.end());
  }
}

void AddModule(core::Profile& profile, std::string name, std::vector<std::string> exports) {
  for (core::ModuleExports& known : profile.modules) {
    if (known.name != name) continue;
    known.exports.insert(known.exports.end(), exports.begin(), exports.end());
    std::sort(known.exports.begin(), known.exports.end());
    known.exports.erase(std::unique(known.exports.begin(), known.exports.end()),
                        known.exports.end());
    return;
  }
  profile.modules.push_back({std::move(name), std::move(exports)});
}

void ReadModules(const toml::table& root, const Exports& spelled_out, core::Profile& profile) {
  if (root.contains("imports")) {
    const toml::table& imports = GetTable(root, "imports");
    CheckKeys(imports, kImportKeys);
    CheckWhy(imports);
    GetStrings(imports, "internal");
    // Packages that have not been reviewed; the policy takes their modules from [packages].
    if (imports.contains("open")) GetStrings(imports, "open");
  }
  if (root.contains("builtins")) {
    const toml::table& builtins = GetTable(root, "builtins");
    CheckKeys(builtins, kBuiltinsKeys);
    CheckWhy(builtins);
    GetStrings(builtins, "exports");
  }
  for (const auto& [key, value] : GetTable(root, "modules")) {
    const toml::table* module = value.as_table();
    if (!module) throw Malformed(value, "a module must be a table");
    CheckKeys(*module, kModuleKeys);
    CheckWhy(*module);
    std::string name(key.str());
    const auto found = spelled_out.find(name);
    std::vector<std::string> exports =
        found == spelled_out.end() ? GetStrings(*module, "exports") : found->second;
    AddModule(profile, std::move(name), std::move(exports));
  }
}

// Modules that only refuse, for programs whose tests patch them. The policy resolves them.
void ReadModulesForTests(const toml::table& root, core::Profile& profile) {
  if (!root.contains("for_tests")) return;
  for (const auto& [key, value] : GetTable(root, "for_tests")) {
    const toml::table* module = value.as_table();
    if (!module) throw Malformed(value, "a module must be a table");
    CheckKeys(*module, kForTestsKeys);
    CheckWhy(*module);
    GetStrings(*module, "exports");
    profile.modules_for_tests.emplace_back(key.str());
  }
}

// Resources of a worker besides an interpreter and a readable library.
void ReadWorkerResources(const toml::table& root, core::Profile& profile) {
  if (root.contains("workspace")) {
    const toml::table& workspace = GetTable(root, "workspace");
    CheckKeys(workspace, kWorkspaceKeys);
    CheckWhy(workspace);
    const int64_t inodes = Get<int64_t>(workspace, "inodes");
    if (inodes < 16 || inodes > 10'000'000) {
      throw Malformed(workspace, "\"inodes\" must be from 16 to 10000000");
    }
    const core::Bytes size =
        Unwrap(core::Bytes::Parse(Get<std::string>(workspace, "size")), workspace);
    // A tmpfs of size 0 is unbounded.
    if (size < core::Bytes{4096}) throw Malformed(workspace, "\"size\" must be 4096 bytes or more");
    profile.workspace = core::WorkspaceRule{size, static_cast<uint32_t>(inodes)};
  }
  if (root.contains("door")) {
    const toml::table& egress = GetTable(root, "door");
    CheckKeys(egress, kEgressKeys);
    CheckWhy(egress);
    const int64_t port = Get<int64_t>(egress, "port");
    if (port < 1 || port > 65535) throw Malformed(egress, "\"port\" must be from 1 to 65535");
    profile.egress = core::EgressListener{static_cast<uint16_t>(port)};
  }
}

void ReadArtifacts(const toml::table& root, core::Profile& profile) {
  if (!root.contains("artifacts")) return;
  const toml::table& artifacts = GetTable(root, "artifacts");
  CheckKeys(artifacts, kArtifactKeys);
  CheckWhy(artifacts);
  const core::Bytes size =
      Unwrap(core::Bytes::Parse(Get<std::string>(artifacts, "size")), artifacts);
  if (size > core::Bytes::Mebi(256)) throw Malformed(artifacts, "\"size\" may be 256m at most");
  profile.artifacts = std::max(profile.artifacts, size);
}

// "NAME=value" for each entry.
std::vector<std::string> ReadEnvironment(const toml::table& parent) {
  std::vector<std::string> environment;
  if (!parent.contains("environment")) return environment;
  for (const auto& [key, value] : GetTable(parent, "environment")) {
    const std::optional<std::string> text = value.value_exact<std::string>();
    if (!text) throw Malformed(value, "an environment variable must be a string");
    environment.push_back(std::string(key.str()) + "=" + *text);
  }
  return environment;
}

// Later variables replace earlier ones of the same name.
void AddEnvironment(const toml::table& parent, std::vector<std::string>& environment) {
  for (std::string& variable : ReadEnvironment(parent)) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(environment, [&](const std::string& known) { return known.starts_with(name); });
    environment.push_back(std::move(variable));
  }
}

void ReadZygote(const toml::table& root, core::Profile& profile) {
  if (!root.contains("zygote")) return;
  const toml::table& zygote = GetTable(root, "zygote");
  CheckKeys(zygote, kZygoteKeys);
  CheckWhy(zygote);
  if (zygote.contains("huge_pages")) profile.huge_pages |= Get<bool>(zygote, "huge_pages");
  if (zygote.contains("light")) {
    profile.light_packages.clear();  // of a profile that this one extends
    for (std::string& name : GetStrings(zygote, "light")) {
      const auto has = [&](const core::PackageSet& set) {
        return core::Contains(set.modules, name);
      };
      if (std::ranges::none_of(profile.packages, has)) {
        throw Malformed(*zygote.get("light"),
                        "no package set of this profile has " + core::Quoted(name));
      }
      profile.light_packages.push_back(std::move(name));
    }
  }
  AddEnvironment(zygote, profile.environment);
}

std::vector<std::string> GetStringsIfAny(const toml::table& table, const char* key) {
  return table.contains(key) ? GetStrings(table, key) : std::vector<std::string>();
}

core::ErrorPattern ReadErrorPattern(const toml::table& entry) {
  CheckKeys(entry, kErrorKeys);
  core::ErrorPattern errors{Get<std::string>(entry, "pattern"), GetStrings(entry, "groups"), false};
  if (entry.contains("last")) errors.last = Get<bool>(entry, "last");
  for (const std::string& group : errors.groups) {
    if (core::Contains(kErrorGroups, group)) continue;
    throw Malformed(entry,
                    "unknown group " + core::Quoted(group) + host::Suggestion(group, kErrorGroups));
  }
  return errors;
}

core::ValueForms ReadValueForms(const toml::table& table) {
  CheckKeys(table, kValueKeys);
  CheckWhy(table);
  const auto text = [&](const char* key) { return Get<std::string>(table, key); };
  const auto text_if_any = [&](const char* key) { return table.contains(key) ? text(key) : ""; };
  const std::string strings = text("strings");
  if (!core::Contains(kStringForms, strings)) {
    throw Malformed(table, "unknown form of strings " + core::Quoted(strings) +
                               host::Suggestion(strings, kStringForms));
  }
  using Strings = core::ValueForms::Strings;
  core::ValueForms forms{
      .strings = strings == kStringForms.front() ? Strings::kJson : Strings::kShell,
      .nul_in_strings = table.contains("nul_in_strings") && Get<bool>(table, "nul_in_strings"),
      .null = text("null"),
      .true_ = text("true"),
      .false_ = text("false"),
      .nan = text("nan"),
      .infinity = text("infinity"),
      .big = text("big"),
      .separator = text("separator"),
      .list = text("list"),
      .map = text("map"),
      .entry = text("entry"),
      .vector = text_if_any("vector"),
      .nested = !table.contains("nested") || Get<bool>(table, "nested"),
      .set = text("set"),
      .set_list = text_if_any("set_list"),
      .set_map = text_if_any("set_map"),
      .get = text("get")};
  for (const std::string* statement : {&forms.set, &forms.set_list, &forms.set_map}) {
    if (statement->find_first_of("\r\n") == statement->npos) continue;
    throw Malformed(table, "a statement that sets a variable has more than one line");
  }
  return forms;
}

// What "{shared}" in a command stands for: code that a language's commands have in common.
void FillShared(const toml::table& table, core::ProgramRule& program) {
  if (!table.contains("shared")) return;
  const auto text = Get<std::string>(table, "shared");
  for (auto* const command :
       {&program.compile, &program.warm, &program.session, &program.command}) {
    for (std::string& word : *command) core::FillIn(word, "{shared}", text);
  }
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && !name.starts_with('.') && !name.starts_with('-') &&
         std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
         });
}

// What `{prepared}` in a command stands for.
void ReadPreparation(const toml::table& parent, core::ProgramRule& program) {
  const auto uses = [](const std::vector<std::string>& command) {
    return std::ranges::any_of(
        command, [](const std::string& word) { return word.find("{prepared}") != word.npos; });
  };
  const bool is_used = std::ranges::any_of(
      std::array{&program.compile, &program.warm, &program.session, &program.command},
      [&](const auto* command) { return uses(*command); });
  if (is_used != parent.contains("prepare")) {
    throw Malformed(parent, is_used ? "a command has {prepared}, and there is no \"prepare\""
                                    : "no command has {prepared}: what \"prepare\" makes");
  }
  if (!is_used) return;
  const toml::table& table = GetTable(parent, "prepare");
  CheckKeys(table, kPrepareKeys);
  CheckWhy(table);
  core::Preparation prepare{.command = GetStrings(table, "command"),
                            .source = Get<std::string>(table, "source"),
                            .file = Get<std::string>(table, "file"),
                            .from = GetStrings(table, "from")};
  if (prepare.command.empty() || uses(prepare.command))
    throw Malformed(table, "\"command\" is empty, or needs its own result");
  if (!IsPlainName(prepare.file)) throw Malformed(table, "\"file\" must be a plain name");
  if (prepare.from.empty())
    throw Malformed(table, "\"from\" is empty: nothing tells versions apart");
  for (const std::string& path : prepare.from) {
    if (!path.starts_with('/') && !path.starts_with("{home}/"))
      throw Malformed(table, "\"from\" must have absolute paths, or such as begin with {home}/");
  }
  program.prepare = std::move(prepare);
}

// The file that all languages extend has only the environment.
void ReadProgram(const toml::table& root, core::Profile& profile) {
  if (!root.contains("program")) return;
  const toml::table& table = GetTable(root, "program");
  CheckKeys(table, kProgramKeys);
  CheckWhy(table);
  core::ProgramRule& program = profile.program ? *profile.program : profile.program.emplace();
  AddEnvironment(table, program.environment);
  if (!root.contains("extends")) return;
  program.title = Get<std::string>(table, "title");
  program.package = Get<std::string>(table, "package");
  program.file = Get<std::string>(table, "file");
  program.command = GetStrings(table, "command");
  program.version = GetStrings(table, "version");
  if (program.command.empty() || program.version.empty())
    throw Malformed(table, "a command is empty");
  program.example = Get<std::string>(table, "example");
  program.aliases = GetStringsIfAny(table, "aliases");
  program.extensions = GetStringsIfAny(table, "extensions");
  program.interpreters = GetStringsIfAny(table, "interpreters");
  program.compile = GetStringsIfAny(table, "compile");
  program.warm = GetStringsIfAny(table, "warm");
  program.session = GetStringsIfAny(table, "session");
  if (table.contains("values")) program.values = ReadValueForms(GetTable(table, "values"));
  FillShared(table, program);
  if (table.contains("value")) program.reports_value = Get<bool>(table, "value");
  if (program.reports_value && program.warm.empty())
    throw Malformed(table, "\"value\" requires \"warm\"");
  if (table.contains("commands")) program.commands = Get<bool>(table, "commands");
  if (program.commands && !program.session.empty())
    throw Malformed(table, "\"commands\" excludes \"session\"");
  if (table.contains("shows")) program.shows = Get<std::string>(table, "shows");
  ReadPreparation(table, program);
  // It begins the name of the file that is made.
  if (!program.prepare.command.empty() && !IsPlainName(Get<std::string>(root, "name")))
    throw Malformed(root, "with \"prepare\", \"name\" must be a plain name");
  if (table.contains("compile_time")) {
    program.compile_limits.time =
        Unwrap(core::ParseDuration(Get<std::string>(table, "compile_time")), table);
  }
  if (table.contains("compile_memory")) {
    program.compile_limits.memory =
        Unwrap(core::Bytes::Parse(Get<std::string>(table, "compile_memory")), table);
  }
  for (const toml::table* entry : GetTables(table, "errors")) {
    program.errors.push_back(ReadErrorPattern(*entry));
  }
}

void ReadPackages(const toml::table& root, core::Profile& profile) {
  if (!root.contains("packages")) return;
  for (const auto& [key, value] : GetTable(root, "packages")) {
    const toml::table* set = value.as_table();
    if (!set) throw Malformed(value, "a package set must be a table");
    CheckKeys(*set, kPackageKeys);
    CheckWhy(*set);
    profile.packages.push_back({std::string(key.str()), GetStrings(*set, "modules")});
  }
}

// Modules of sets that the file itself leaves unreviewed have no table of their own: all their
// public names are exported.
void ReadOpenPackages(const toml::table& root, core::Profile& profile) {
  const toml::table* imports = root["imports"].as_table();
  if (!imports || !imports->contains("open") || !root.contains("packages")) return;
  const std::vector<std::string> open = GetStrings(*imports, "open");
  for (const auto& [key, value] : GetTable(root, "packages")) {
    for (std::string& name : GetStrings(*value.as_table(), "modules")) {
      if (!core::Contains(open, core::TopLevelName(name))) continue;
      AddModule(profile, std::move(name), {});
    }
  }
}

// A profile without the language policy; of several, one suffices. Profiles for 0.1 have
// language = "full".
void ReadPolicy(const toml::table& root, core::Profile& profile) {
  constexpr std::pair<const char*, const char*> kNames[] = {{"policy", "off"},
                                                            {"language", "full"}};
  for (const auto& [key, value] : kNames) {
    if (!root.contains(key)) continue;
    if (Get<std::string>(root, key) != value) {
      throw Malformed(*root.get(key), core::Quoted(key) + " may only be " + core::Quoted(value));
    }
    profile.without_policy = true;
  }
}

// Without the reasons, which are for readers of the file.
nlohmann::json ToJson(const toml::node& node) {
  nlohmann::json json;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_table<decltype(value)>) {
      json = nlohmann::json::object();
      for (const auto& [key, each] : value) {
        if (key.str() == "why" && each.is_string()) continue;  // a module may be named so
        json[std::string(key.str())] = ToJson(each);
      }
    } else if constexpr (toml::is_array<decltype(value)>) {
      json = nlohmann::json::array();
      for (const toml::node& each : value) json.push_back(ToJson(each));
    } else if constexpr (toml::is_chronological<decltype(value)>) {
      throw Malformed(value, "no key takes a date or time");
    } else {
      json = value.get();
    }
  });
  return json;
}

// Tables are merged, lists are joined without duplicates, other values are replaced by the later
// file's.
void Merge(nlohmann::json& into, const nlohmann::json& from) {
  for (const auto& [key, value] : from.items()) {
    nlohmann::json& known = into[key];
    if (known.is_object() && value.is_object()) {
      Merge(known, value);
    } else if (known.is_array() && value.is_array()) {
      for (const nlohmann::json& item : value) {
        if (std::find(known.begin(), known.end(), item) == known.end()) known.push_back(item);
      }
    } else {
      known = value;
    }
  }
}

struct ProfileFile {
  toml::table root;
  Exports spelled_out;
  std::optional<core::Profile> as_base;  // cached: the profile before tiers are added
};

nlohmann::json DocumentOf(const ProfileFile& file) {
  nlohmann::json document = ToJson(file.root);
  for (const auto& [module, names] : file.spelled_out) {
    document["modules"][module]["exports"] = names;
  }
  return document;
}

// The content of files, each read once for all profiles that include it.
class ProfileFiles {
 public:
  ProfileFile& Read(const fs::path& file) {
    if (const auto found = files_.find(file); found != files_.end()) return found->second;
    toml::table root = Parse(file);
    CheckKeys(root, kProfileKeys);
    DropLaterModules(root);
    Exports spelled_out = SpelledOut(root, ExportsOf(file));
    ProfileFile content{std::move(root), std::move(spelled_out), std::nullopt};
    return files_.emplace(file, std::move(content)).first->second;
  }

 private:
  static std::string ExportsOf(const fs::path& file) {
    return file.parent_path() / kExportsFolder / file.filename().replace_extension(".txt");
  }

  std::map<fs::path, ProfileFile> files_;
};

// One profile from one or more files; the first is complete by itself, the others extend it.
class ProfileReader {
 public:
  ProfileReader(std::string folder, const SyscallGroups& syscalls, ProfileFiles& files,
                bool has_document)
      : folder_(std::move(folder)),
        syscalls_(syscalls),
        files_(files),
        has_document_(has_document) {}

  // A profile of the folder, or several joined by "+".
  void AddNamed(const std::string& names, int depth = 0) {
    for (const std::string_view part : core::SplitAt(names, '+')) {
      const std::string name(part);
      // Must be a plain name, so that nothing outside the folder is read.
      if (name.empty() || name.find('/') != name.npos) {
        throw std::runtime_error("\"" + name + "\" is not a profile name");
      }
      if (!Contains(read_, name)) AddFile(folder_ + "/" + name + ".toml", depth);
    }
  }

  void AddFile(const std::string& file, int depth = 0) {
    ProfileFile& content = files_.Read(file);
    const toml::table& root = content.root;
    if (Get<int64_t>(root, "schema") != kSchema) throw Malformed(root, "schema must be 1");
    const std::string name = Get<std::string>(root, "name");
    const bool tier = root.contains("extends");
    if (tier) {
      if (depth == kMaxDepth)
        throw Malformed(root, "it extends itself, or the chain of extends is too long");
      AddNamed(Get<std::string>(root, "extends"), depth + 1);
      profile_.tiers.push_back(name);
    }
    const bool first = read_.empty();
    if (!first && !tier) throw Malformed(root, "it does not extend another profile: \"extends\"");
    if (first && content.as_base) {
      profile_ = *content.as_base;
    } else {
      Read(content, first);
      if (first) content.as_base = profile_;
    }
    if (has_document_ && first) {
      document_ = DocumentOf(content);
    } else if (has_document_) {
      Merge(document_, DocumentOf(content));
    }
    summaries_.push_back(Get<std::string>(root, "summary"));
    read_.push_back(name);
    profile_.name = name;
  }

  core::Profile Finish(const std::vector<std::string>& names) {
    profile_.summary = summaries_.back();
    if (names.size() > 1) Combine(names);
    AddSpawning("", profile_.spawning_syscalls);
    if (profile_.workspace) AddSpawning("workspace", profile_.spawning_syscalls);
    if (profile_.egress) AddSpawning("door", profile_.spawning_syscalls);
    if (const auto found = syscalls_.groups.find(kThreads); found != syscalls_.groups.end()) {
      profile_.thread_syscalls = found->second;
    }
    profile_.hostile_syscalls = syscalls_.hostile;
    if (has_document_) {
      document_["name"] = profile_.name;
      profile_.document = document_.dump();
    }
    return std::move(profile_);
  }

 private:
  static constexpr int kMaxDepth = 8;

  static bool Contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  void Read(const ProfileFile& content, bool first) {
    const toml::table& root = content.root;
    if (first || root.contains("limits")) ReadLimits(GetTable(root, "limits"), profile_, first);
    ReadPaths(root, profile_);
    ReadSeccomp(root, syscalls_, profile_, first);
    ReadProgram(root, profile_);
    if (!profile_.program) ReadModules(root, content.spelled_out, profile_);
    ReadModulesForTests(root, profile_);
    ReadPolicy(root, profile_);
    ReadWorkerResources(root, profile_);
    ReadArtifacts(root, profile_);
    ReadPackages(root, profile_);
    ReadZygote(root, profile_);
    ReadOpenPackages(root, profile_);
    if (root.contains("attack_surface")) {
      for (std::string& what : GetStrings(root, "attack_surface")) {
        profile_.attack_surface.push_back(std::move(what));
      }
    }
  }

  void AddSpawning(const std::string& with, std::vector<std::string>& calls) const {
    const auto found = syscalls_.spawning.find(with);
    if (found == syscalls_.spawning.end()) return;
    calls.insert(calls.end(), found->second.begin(), found->second.end());
  }

  void Combine(const std::vector<std::string>& names) {
    profile_.name.clear();
    profile_.summary.clear();
    for (const std::string& name : names) {
      profile_.name += (profile_.name.empty() ? "" : "+") + name;
    }
    for (size_t i = 0; i < read_.size(); ++i) {
      if (!Contains(names, read_[i])) continue;
      profile_.summary += (profile_.summary.empty() ? "" : " ") + summaries_[i];
    }
  }

  const std::string folder_;
  const SyscallGroups& syscalls_;
  ProfileFiles& files_;
  const bool has_document_;
  core::Profile profile_;
  nlohmann::json document_;
  std::vector<std::string> read_;
  std::vector<std::string> summaries_;
};

template <typename Read>
auto Translate(const std::string& operation, Read read) -> core::Result<decltype(read())> {
  try {
    return read();
  } catch (const std::exception& failure) {
    return core::MakeError(operation, failure.what());
  }
}

}  // namespace

struct ProfileFolder::Content {
  std::string folder;
  SyscallGroups syscalls;
  ProfileFiles files;
};

ProfileFolder::ProfileFolder(std::unique_ptr<Content> content) : content_(std::move(content)) {}
ProfileFolder::ProfileFolder(ProfileFolder&&) noexcept = default;
ProfileFolder::~ProfileFolder() = default;

core::Result<ProfileFolder> ProfileFolder::Open(const std::string& folder) {
  return Translate("load profiles", [&] {
    return ProfileFolder(std::make_unique<Content>(
        Content{folder, ReadSyscalls(folder + "/" + kSeccompFile), ProfileFiles()}));
  });
}

core::Result<core::Profile> ProfileFolder::Load(const std::string& name) {
  return Translate("load profile", [&] {
    ProfileReader reader(content_->folder, content_->syscalls, content_->files, true);
    reader.AddNamed(name);
    return reader.Finish({});
  });
}

core::Result<std::vector<core::Profile>> ProfileFolder::LoadAll() {
  return Translate("load profiles", [&] {
    std::vector<core::Profile> profiles;
    for (const fs::directory_entry& entry : fs::directory_iterator(content_->folder)) {
      if (entry.path().extension() != ".toml" || entry.path().filename() == kSeccompFile) continue;
      const bool is_base = !content_->files.Read(entry.path()).root.contains("extends");
      ProfileReader reader(content_->folder, content_->syscalls, content_->files, is_base);
      reader.AddFile(entry.path());
      profiles.push_back(reader.Finish({}));
    }
    std::sort(profiles.begin(), profiles.end(),
              [](const core::Profile& a, const core::Profile& b) { return a.name < b.name; });
    return profiles;
  });
}

namespace {

core::Profile ReadLanguage(const std::string& file, const std::string& folder,
                           const SyscallGroups& syscalls, ProfileFiles& files) {
  ProfileReader reader(folder, syscalls, files, false);
  reader.AddFile(file);
  core::Profile language = reader.Finish({});
  if (!language.program || !language.workspace || language.tiers.empty()) {
    throw std::runtime_error(file +
                             ": no language: it must have [program], and extends = \"base\"");
  }
  return language;
}

}  // namespace

core::Result<core::Profile> LoadLanguage(const std::string& file, const std::string& folder,
                                         const std::string& profiles) {
  return Translate("load language", [&] {
    const SyscallGroups syscalls = ReadSyscalls(profiles + "/" + kSeccompFile);
    ProfileFiles files;
    return ReadLanguage(file, folder, syscalls, files);
  });
}

core::Result<std::vector<core::Profile>> LoadLanguages(const std::string& folder,
                                                       const std::string& profiles) {
  return Translate("load languages", [&] {
    const SyscallGroups syscalls = ReadSyscalls(profiles + "/" + kSeccompFile);
    ProfileFiles files;
    std::vector<core::Profile> languages;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".toml") continue;
      if (!files.Read(entry.path()).root.contains("extends")) continue;
      languages.push_back(ReadLanguage(entry.path(), folder, syscalls, files));
    }
    std::ranges::sort(languages, {}, &core::Profile::name);
    return languages;
  });
}

core::Result<std::vector<core::Profile>> LoadProfiles(const std::string& folder) {
  core::Result<ProfileFolder> opened = ProfileFolder::Open(folder);
  if (!opened) return opened.error();
  return opened->LoadAll();
}

core::Result<core::Profile> LoadProfile(const std::string& file, const std::string& folder) {
  return Translate("load profile", [&] {
    const SyscallGroups syscalls = ReadSyscalls(folder + "/" + kSeccompFile);
    ProfileFiles files;
    ProfileReader reader(folder, syscalls, files, true);
    reader.AddFile(file);
    return reader.Finish({});
  });
}

core::Result<core::Profile> CombineProfiles(const std::vector<std::string>& names,
                                            const std::string& folder) {
  return Translate("combine profiles", [&] {
    const SyscallGroups syscalls = ReadSyscalls(folder + "/" + kSeccompFile);
    ProfileFiles files;
    ProfileReader reader(folder, syscalls, files, true);
    for (const std::string& name : names) reader.AddNamed(name);
    return reader.Finish(names);
  });
}

std::string ModulesByProfile(const std::vector<core::Profile>& profiles,
                             const std::string& except) {
  nlohmann::json modules = nlohmann::json::object();
  for (const core::Profile& profile : profiles) {
    // For a refused import, switching the language policy off is not an alternative to suggest.
    if (profile.name == except || profile.without_policy) continue;
    nlohmann::json& names = modules[profile.name] = nlohmann::json::array();
    for (const core::ModuleExports& module : profile.modules) names.push_back(module.name);
  }
  return modules.dump();
}

}  // namespace belljar::profiles
