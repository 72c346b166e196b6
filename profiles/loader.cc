#include "profiles/loader.h"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "engine/core/fd.h"
#include "engine/core/suggest.h"

namespace belljar {
namespace {

namespace fs = std::filesystem;

constexpr char kSeccompFile[] = "seccomp.toml";
constexpr int64_t kSchema = 1;

// What is allowed where. A table named "*" has keys of the author's choosing.
using Keys = std::vector<std::string>;
const Keys kProfileKeys = {"schema", "name",    "summary", "limits",
                           "paths",  "seccomp", "imports", "modules"};
const Keys kLimitKeys = {"default", "max", "why"};
const Keys kLimitNames = {"timeout", "cpu",       "memory",     "output",   "result",
                          "source",  "file_size", "open_files", "processes"};
const Keys kPathKeys = {"path", "optional", "why"};
const Keys kSeccompKeys = {"groups", "why"};
const Keys kImportKeys = {"internal", "why"};
const Keys kModuleKeys = {"why", "exports", "replace", "synthetic"};
const Keys kSeccompFileKeys = {"schema", "group", "spawning", "hostile"};
const Keys kSyscallKeys = {"calls", "when", "why"};
const Keys kConditionKeys = {"argument", "mask", "equals", "below"};

// Thrown inside this file only; the public functions turn it into an Error.
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
    throw Malformed(value, "unknown key \"" + name + "\"" + Suggestion(name, known));
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
T Unwrap(Result<T> result, const toml::node& where) {
  if (!result) throw Malformed(where, result.error().ToString());
  return std::move(*result);
}

toml::table Parse(const std::string& file) {
  Result<std::string> text = ReadFile(file, 4 << 20);
  if (!text) throw std::runtime_error(text.error().ToString());
  try {
    return toml::parse(*text, file);
  } catch (const toml::parse_error& error) {
    throw std::runtime_error(file + ":" + std::to_string(error.source().begin.line) + ": " +
                             std::string(error.description()));
  }
}

// --- seccomp.toml -----------------------------------------------------------------------------

struct SyscallGroups {
  std::map<std::string, std::vector<SyscallRule>> groups;
  std::vector<std::string> spawning;
  std::vector<std::string> hostile;
};

SyscallRule ReadCondition(const toml::table& entry) {
  SyscallRule rule;
  if (!entry.contains("when")) return rule;
  const toml::table& when = GetTable(entry, "when");
  CheckKeys(when, kConditionKeys);
  const int64_t argument = Get<int64_t>(when, "argument");
  if (argument < 0 || argument > 5) throw Malformed(when, "\"argument\" must be from 0 to 5");
  rule.argument = static_cast<int>(argument);
  rule.below = when.contains("below");
  rule.value = static_cast<uint64_t>(Get<int64_t>(when, rule.below ? "below" : "equals"));
  if (when.contains("mask")) rule.mask = static_cast<uint64_t>(Get<int64_t>(when, "mask"));
  return rule;
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
      SyscallRule rule = ReadCondition(*entry);
      for (std::string& call : GetStrings(*entry, "calls")) {
        rule.name = std::move(call);
        syscalls.groups[name].push_back(rule);
      }
    }
  }
  syscalls.spawning = ReadCalls(root, "spawning");
  syscalls.hostile = ReadCalls(root, "hostile");
  return syscalls;
}

// --- profiles ---------------------------------------------------------------------------------

void ReadDuration(const toml::table& limits, const char* key, std::chrono::milliseconds* usual,
                  std::chrono::milliseconds* most) {
  const toml::table& limit = GetTable(limits, key);
  CheckKeys(limit, kLimitKeys);
  CheckWhy(limit);
  *usual = Unwrap(ParseDuration(Get<std::string>(limit, "default")), limit);
  *most = Unwrap(ParseDuration(Get<std::string>(limit, "max")), limit);
  if (*usual > *most) throw Malformed(limit, "the default is over the maximum");
}

void ReadBytes(const toml::table& limits, const char* key, Bytes* usual, Bytes* most) {
  const toml::table& limit = GetTable(limits, key);
  CheckKeys(limit, kLimitKeys);
  CheckWhy(limit);
  *usual = Unwrap(Bytes::Parse(Get<std::string>(limit, "default")), limit);
  *most = Unwrap(Bytes::Parse(Get<std::string>(limit, "max")), limit);
  if (*usual > *most) throw Malformed(limit, "the default is over the maximum");
}

// Fixed for all runs of the profile.
void ReadCount(const toml::table& limits, const char* key, uint32_t* usual, uint32_t* most) {
  const toml::table& limit = GetTable(limits, key);
  CheckKeys(limit, kLimitKeys);
  CheckWhy(limit);
  const int64_t count = Get<int64_t>(limit, "default");
  if (count < 1 || count > 65536) throw Malformed(limit, "must be from 1 to 65536");
  *usual = *most = static_cast<uint32_t>(count);
}

void ReadLimits(const toml::table& limits, Profile& profile) {
  CheckKeys(limits, kLimitNames);
  Limits& usual = profile.default_limits;
  Limits& most = profile.maximum_limits;
  ReadDuration(limits, "timeout", &usual.timeout, &most.timeout);
  ReadDuration(limits, "cpu", &usual.cpu, &most.cpu);
  ReadBytes(limits, "memory", &usual.memory, &most.memory);
  ReadBytes(limits, "output", &usual.output, &most.output);
  ReadBytes(limits, "result", &usual.result, &most.result);
  ReadBytes(limits, "source", &usual.source, &most.source);
  ReadBytes(limits, "file_size", &usual.file_size, &most.file_size);
  ReadCount(limits, "open_files", &usual.open_files, &most.open_files);
  ReadCount(limits, "processes", &usual.processes, &most.processes);
}

void ReadPaths(const toml::table& root, Profile& profile) {
  for (const toml::table* entry : GetTables(root, "paths")) {
    CheckKeys(*entry, kPathKeys);
    CheckWhy(*entry);
    PathRule rule{Get<std::string>(*entry, "path"), false};
    if (entry->contains("optional")) rule.optional = Get<bool>(*entry, "optional");
    if (rule.path != "{stdlib}" && !rule.path.starts_with('/')) {
      throw Malformed(*entry, "\"path\" must be absolute or {stdlib}");
    }
    profile.paths.push_back(std::move(rule));
  }
}

void ReadSeccomp(const toml::table& root, const SyscallGroups& syscalls, Profile& profile) {
  const toml::table& seccomp = GetTable(root, "seccomp");
  CheckKeys(seccomp, kSeccompKeys);
  CheckWhy(seccomp);
  for (const std::string& group : GetStrings(seccomp, "groups")) {
    const auto found = syscalls.groups.find(group);
    if (found == syscalls.groups.end()) {
      Keys known;
      for (const auto& [name, rules] : syscalls.groups) known.push_back(name);
      throw Malformed(seccomp, "unknown group \"" + group + "\"" + Suggestion(group, known));
    }
    profile.allowed_syscalls.insert(profile.allowed_syscalls.end(), found->second.begin(),
                                    found->second.end());
  }
  profile.spawning_syscalls = syscalls.spawning;
  profile.hostile_syscalls = syscalls.hostile;
}

void ReadModules(const toml::table& root, Profile& profile) {
  if (root.contains("imports")) {
    const toml::table& imports = GetTable(root, "imports");
    CheckKeys(imports, kImportKeys);
    CheckWhy(imports);
    GetStrings(imports, "internal");
  }
  for (const auto& [key, value] : GetTable(root, "modules")) {
    const toml::table* module = value.as_table();
    if (!module) throw Malformed(value, "a module must be a table");
    CheckKeys(*module, kModuleKeys);
    CheckWhy(*module);
    profile.modules.push_back({std::string(key.str()), GetStrings(*module, "exports")});
  }
}

std::string ToJson(const toml::table& root) {
  std::ostringstream json;
  json << toml::json_formatter(root);
  return json.str();
}

Profile ReadProfile(const std::string& file, const SyscallGroups& syscalls) {
  const toml::table root = Parse(file);
  CheckKeys(root, kProfileKeys);
  if (Get<int64_t>(root, "schema") != kSchema) throw Malformed(root, "schema must be 1");
  Profile profile;
  profile.name = Get<std::string>(root, "name");
  profile.summary = Get<std::string>(root, "summary");
  ReadLimits(GetTable(root, "limits"), profile);
  ReadPaths(root, profile);
  ReadSeccomp(root, syscalls, profile);
  ReadModules(root, profile);
  profile.document = ToJson(root);
  return profile;
}

template <typename Read>
auto Translate(const std::string& operation, Read read) -> Result<decltype(read())> {
  try {
    return read();
  } catch (const std::exception& failure) {
    return MakeError(operation, failure.what());
  }
}

}  // namespace

Result<std::vector<Profile>> LoadProfiles(const std::string& folder) {
  return Translate("load profiles", [&] {
    const SyscallGroups syscalls = ReadSyscalls(folder + "/" + kSeccompFile);
    std::vector<Profile> profiles;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".toml" || entry.path().filename() == kSeccompFile) continue;
      profiles.push_back(ReadProfile(entry.path(), syscalls));
    }
    std::sort(profiles.begin(), profiles.end(),
              [](const Profile& a, const Profile& b) { return a.name < b.name; });
    return profiles;
  });
}

Result<Profile> LoadProfile(const std::string& file, const std::string& folder) {
  return Translate("load profile",
                   [&] { return ReadProfile(file, ReadSyscalls(folder + "/" + kSeccompFile)); });
}

std::string ModulesByProfile(const std::vector<Profile>& profiles, const std::string& except) {
  nlohmann::json modules = nlohmann::json::object();
  for (const Profile& profile : profiles) {
    if (profile.name == except) continue;
    nlohmann::json& names = modules[profile.name] = nlohmann::json::array();
    for (const ModuleExports& module : profile.modules) names.push_back(module.name);
  }
  return modules.dump();
}

}  // namespace belljar
