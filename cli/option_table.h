// The options of the commands, in a form shared by parsing, help, errors and completion: the type
// name of an option describes its values.
#ifndef BELLJAR_CLI_OPTION_TABLE_H_
#define BELLJAR_CLI_OPTION_TABLE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

// CLI11 takes some seconds to compile, so only files that need more than the following include it.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace belljar::cli {

// One command: its parser, and the function to run after parsing.
struct Command {
  CLI::App* parser;
  std::function<int()> execute;  // returns the exit code
  // If set: receives the arguments that no option or positional takes, and everything after "--".
  std::vector<std::string>* rest = nullptr;
};

inline constexpr char kFileType[] = "FILE";
inline constexpr char kProfileType[] = "PROFILE";
inline constexpr char kModuleType[] = "MODULE";
inline constexpr char kRuleType[] = "RULE";
inline constexpr char kCommandType[] = "COMMAND";

// Adds a command to `app`, which owns it; `help` is its line in the list of commands.
CLI::App* AddCommand(CLI::App& app, const std::string& name, const std::string& help);

// An option without a value: true if given.
void AddFlag(CLI::App* parser, const std::string& name, bool& value, const std::string& help);

// An option, or a positional if `name` has no dashes. Unlike CLI11's own optional, it distinguishes
// an empty value from none: `-c ''` is a program.
CLI::Option* AddText(CLI::App* parser, const std::string& name, std::optional<std::string>& value,
                     const std::string& type, const std::string& help);

// A repeatable option with one value each time, which may contain commas.
CLI::Option* AddRepeatable(CLI::App* parser, const std::string& name,
                           std::vector<std::string>& values, const std::string& type,
                           const std::string& help);

// A repeatable option with one or several comma-separated values. An empty value gives an empty
// list.
CLI::Option* AddList(CLI::App* parser, const std::string& name,
                     std::optional<std::vector<std::string>>& values, const std::string& type,
                     const std::string& help);

// An option that takes one of `choices`; anything else is a usage error with a suggestion.
CLI::Option* AddChoice(CLI::App* parser, const std::string& name, std::string& value,
                       const std::vector<std::string>& choices, const std::string& help);

// --language NAME where there is only Python. Hidden, with the values that it had in 0.1 for
// --policy, "restricted" and "full".
void AddLanguageOption(CLI::App* parser, std::function<void(const std::string&)> store);

// Whether help, completion and suggestions leave the option out.
bool IsHidden(const CLI::Option& option);

// "a|b": the type name of enumerated values.
std::string JoinChoices(const std::vector<std::string>& choices);

// The enumerated values of `option`; empty if there are none.
std::vector<std::string> ChoicesOf(const CLI::Option& option);

// Whether the option takes a value at all.
bool TakesValue(const CLI::Option& option);

// The long and short names with dashes: "--stdin"; none for a positional.
std::vector<std::string> NamesOf(const CLI::Option& option);

// The text below the options: one example per line, "command  # what it does".
void SetExamples(CLI::App* parser, const std::vector<std::string>& examples);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_OPTION_TABLE_H_
