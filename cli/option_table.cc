#include "cli/option_table.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "cli/console.h"
#include "engine/core/text.h"
#include "engine/host/suggest.h"

namespace belljar::cli {

CLI::App* AddCommand(CLI::App& app, const std::string& name, const std::string& help) {
  return app.add_subcommand(name, help);
}

void AddFlag(CLI::App* parser, const std::string& name, bool& value, const std::string& help) {
  parser->add_flag(name, value, help);
}

CLI::Option* AddText(CLI::App* parser, const std::string& name, std::optional<std::string>& value,
                     const std::string& type, const std::string& help) {
  const auto store = [&value](const std::string& given) { value = given; };
  return parser->add_option_function<std::string>(name, store, help)->type_name(type);
}

CLI::Option* AddRepeatable(CLI::App* parser, const std::string& name,
                           std::vector<std::string>& values, const std::string& type,
                           const std::string& help) {
  return parser->add_option(name, values, help)
      ->type_name(type)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* AddList(CLI::App* parser, const std::string& name,
                     std::optional<std::vector<std::string>>& values, const std::string& type,
                     const std::string& help) {
  // CLI11's delimiter would consume the next argument if a value splits into nothing, such as "".
  const auto store = [&values](const std::vector<std::string>& given) {
    values.emplace();
    for (const std::string& list : given) {
      for (const std::string& item : CLI::detail::split(list, ',')) {
        if (!item.empty()) values->push_back(item);
      }
    }
  };
  // One value per occurrence: it must not consume the FILE after it.
  return parser->add_option_function<std::vector<std::string>>(name, store, help)
      ->type_name(type)
      ->type_size(1)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

CLI::Option* AddChoice(CLI::App* parser, const std::string& name, std::string& value,
                       const std::vector<std::string>& choices, const std::string& help) {
  const auto check = [choices](std::string& given) -> std::string {
    if (std::find(choices.begin(), choices.end(), given) != choices.end()) return "";
    return core::Quoted(given) + " is none of " + JoinChoices(choices) +
           host::Suggestion(given, choices);
  };
  return parser->add_option(name, value, help + " (default: " + value + ")")
      ->type_name(JoinChoices(choices))
      ->check(CLI::Validator(check, ""));
}

void AddLanguageOption(CLI::App* parser, std::function<void(const std::string&)> store) {
  constexpr const char* kName = "--language";
  // Not a Validator, whose errors do not name an option that is hidden.
  const auto checked = [store = std::move(store)](const std::string& given) {
    if (given != "python" && given != "restricted" && given != "full") {
      throw CLI::ValidationError(kName, core::Quoted(given) + " is none of python");
    }
    store(given);
  };
  parser->add_option_function<std::string>(kName, checked, "")->type_name("NAME")->group("");
}

bool IsHidden(const CLI::Option& option) { return option.get_group().empty(); }

std::string JoinChoices(const std::vector<std::string>& choices) {
  return CLI::detail::join(choices, "|");
}

std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.find('|') == std::string::npos) return {};
  return CLI::detail::split(type, '|');
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::vector<std::string> NamesOf(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

void SetExamples(CLI::App* parser, const std::vector<std::string>& examples) {
  size_t widest = 0;
  for (const std::string& example : examples) widest = std::max(widest, example.find("  # "));
  std::string text = "Examples:";
  for (const std::string& example : examples) {
    const size_t comment = example.find("  # ");
    text += "\n  " + example.substr(0, comment) + std::string(widest - comment, ' ') +
            example.substr(comment);
  }
  parser->footer(text);
}

}  // namespace belljar::cli
