#include "cli/validate/rules.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/host/json_reader.h"
#include "engine/installation/installation.h"

namespace belljar::cli::validate {
namespace {

std::string TextOf(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Rule ToRule(const nlohmann::json& object) {
  Rule rule{.id = TextOf(object, "id"),
            .name = TextOf(object, "name"),
            .title = TextOf(object, "title"),
            .when = TextOf(object, "when"),
            .hint = TextOf(object, "hint"),
            .why = TextOf(object, "why"),
            .bad = TextOf(object, "bad"),
            .good = TextOf(object, "good")};
  // A template with placeholders for parts of a finding, which are not known here.
  if (rule.hint.find('{') != std::string::npos) rule.hint.clear();
  return rule;
}

// `origin` names the text in errors.
core::Result<std::vector<Rule>> ParseRules(std::string_view text, const std::string& origin) {
  const host::JsonReading reading = host::ReadJson(text, {});
  const auto* list = std::get_if<nlohmann::json>(&reading);
  if (list == nullptr || !list->is_array()) {
    return core::MakeError("read " + origin, "it is not a JSON array; reinstall Belljar");
  }
  std::vector<Rule> rules;
  for (const nlohmann::json& object : *list) {
    if (object.is_object()) rules.push_back(ToRule(object));
    if (!object.is_object() || rules.back().id.empty() || rules.back().name.empty()) {
      return core::MakeError("read " + origin, "a rule has no ID or name; reinstall Belljar");
    }
  }
  std::sort(rules.begin(), rules.end(),
            [](const Rule& left, const Rule& right) { return left.id < right.id; });
  return rules;
}

}  // namespace

core::Result<std::vector<Rule>> LoadRules() {
  const core::Result<installation::Installation> installation = installation::Installation::Find();
  if (!installation) return installation.error();
  std::ifstream file(installation->rules, std::ios::binary);
  if (!file) return core::SystemError("open " + installation->rules);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return ParseRules(text, installation->rules);
}

std::string_view RuleGroup(std::string_view id) {
  static constexpr std::string_view kGroups[] = {"source",     "names",      "imports",
                                                 "attributes", "statements", "builtins"};
  if (id.size() < 3 || !id.starts_with("BJ")) return "policy";
  const size_t digit = static_cast<unsigned char>(id[2]) - size_t{'0'};
  return digit < std::size(kGroups) ? kGroups[digit] : "policy";
}

}  // namespace belljar::cli::validate
