#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/validate/rules.h"
#include "engine/core/text.h"
#include "engine/host/suggest.h"

namespace belljar::cli {
namespace {

using Json = nlohmann::ordered_json;
using validate::Rule;

constexpr size_t kTextWidth = 96;

struct RulesArguments {
  std::vector<std::string> ids;
  bool json = false;
};

std::string UpperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// "BJ201", "bj201", "import-not-allowed", or a group: "BJ2".
bool Names(const std::string& word, const Rule& rule) {
  const std::string id = UpperCase(word);
  const bool is_group = id.size() == 3 && id.starts_with("BJ") && rule.id.starts_with(id);
  return is_group || id == rule.id || word == rule.name;
}

// The rules named by `words`, in the order of `rules`, without duplicates; all if there are no
// words. Errors are user errors.
core::Result<std::vector<Rule>> Choose(const std::vector<Rule>& rules,
                                       const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (std::any_of(rules.begin(), rules.end(), [&](const Rule& r) { return Names(word, r); })) {
      continue;
    }
    std::vector<std::string> known;
    for (const Rule& rule : rules) known.insert(known.end(), {rule.id, rule.name});
    return core::MakeError(
        "find rule " + core::Quoted(word),
        "there is none" + host::Suggestion(word, known) + "\n  belljar rules lists them all");
  }
  std::vector<Rule> chosen;
  for (const Rule& rule : rules) {
    const auto names = [&](const std::string& word) { return Names(word, rule); };
    if (words.empty() || std::any_of(words.begin(), words.end(), names)) chosen.push_back(rule);
  }
  return chosen;
}

std::string ListText(const std::vector<Rule>& rules) {
  size_t width = 0;
  for (const Rule& rule : rules) width = std::max(width, rule.name.size());
  std::string text;
  std::string_view group;
  for (const Rule& rule : rules) {
    if (validate::RuleGroup(rule.id) != group) {
      group = validate::RuleGroup(rule.id);
      text += (text.empty() ? "" : "\n") + UpperCase(std::string(group.substr(0, 1))) +
              std::string(group.substr(1)) + "\n";
    }
    std::string name = rule.name;
    name.resize(width + 2, ' ');
    text += "  " + rule.id + "  " + name + rule.title + "\n";
  }
  return text;
}

std::string Paragraph(const std::string& text) {
  std::istringstream words(text);
  std::string paragraph;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kTextWidth) {
      paragraph += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return paragraph + line + "\n";
}

std::string Indented(const std::string& program) {
  std::istringstream lines(program);
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
  return text;
}

std::string ExplainText(const Rule& rule) {
  std::string text = rule.id + " " + rule.name + "\n" + Paragraph(rule.title + ".") + "\n" +
                     Paragraph(rule.why) + "\n" + "When: " + rule.when + "\n";
  if (!rule.bad.empty()) text += "\nRefused\n" + Indented(rule.bad);
  if (!rule.hint.empty()) text += "\n" + Paragraph("Instead: " + rule.hint);
  if (!rule.good.empty()) text += "\nWrite instead\n" + Indented(rule.good);
  return text;
}

std::string RulesJson(const std::vector<Rule>& rules) {
  Json list = Json::array();
  for (const Rule& rule : rules) {
    list.push_back({{"id", rule.id},
                    {"name", rule.name},
                    {"group", validate::RuleGroup(rule.id)},
                    {"title", rule.title},
                    {"when", rule.when},
                    {"why", rule.why},
                    {"hint", rule.hint.empty() ? Json() : Json(rule.hint)},
                    {"bad", rule.bad.empty() ? Json() : Json(rule.bad)},
                    {"good", rule.good.empty() ? Json() : Json(rule.good)}});
  }
  return JsonText(Json{{"rules", std::move(list)}});
}

int ExecuteRules(const RulesArguments& arguments) {
  const core::Result<std::vector<Rule>> rules = validate::LoadRules();
  if (!rules) return OwnFailure(rules.error());
  const core::Result<std::vector<Rule>> chosen = Choose(*rules, arguments.ids);
  if (!chosen) return UsageError("rules", chosen.error().ToString());
  if (arguments.json) return Answer(RulesJson(*chosen), kExitOk);
  if (arguments.ids.empty()) return Answer(ListText(*chosen), kExitOk);
  std::string text;
  for (const Rule& rule : *chosen) text += (text.empty() ? "" : "\n\n") + ExplainText(rule);
  return Answer(text, kExitOk);
}

}  // namespace

Command MakeRulesCommand(CLI::App& app) {
  auto arguments = std::make_shared<RulesArguments>();
  CLI::App* parser =
      app.add_subcommand("rules", "List or explain the rules of the language policy");
  parser
      ->add_option("RULE", arguments->ids,
                   "rules to explain: IDs, names, or groups such as BJ2 (default: list all)")
      ->type_name(kRuleType);
  parser->add_flag("--json", arguments->json, "print one JSON object");
  SetExamples(parser, {"belljar rules  # all rules, one per line",
                       "belljar rules BJ201  # why, and what to write instead",
                       "belljar rules BJ2 --json  # a group, for a program"});
  return {parser, [arguments] { return ExecuteRules(*arguments); }};
}

}  // namespace belljar::cli
