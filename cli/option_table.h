// The options of the commands, in a form that help, errors and completion all read: an option's
// type name says what its value is, so none of them can drift from what is parsed.
#ifndef BELLJAR_CLI_OPTION_TABLE_H_
#define BELLJAR_CLI_OPTION_TABLE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

// CLI11 is a header of some seconds of compiling: only files that ask more of it than what is below
// include it.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace belljar::cli {

// One command: where its options are declared, and what runs once they have been parsed.
struct Command {
  CLI::App* parser;
  std::function<int()> execute;  // returns the exit code
};

inline constexpr char kFileType[] = "FILE";
inline constexpr char kProfileType[] = "PROFILE";
inline constexpr char kModuleType[] = "MODULE";
inline constexpr char kRuleType[] = "RULE";

// A command of `app`, which owns it; `help` is its line in the list of commands.
CLI::App* AddCommand(CLI::App& app, const std::string& name, const std::string& help);

// An option without a value: true where it is given.
void AddFlag(CLI::App* parser, const std::string& name, bool& value, const std::string& help);

// An option, or a positional when `name` has no dashes. Unlike CLI11's own optional it keeps an
// empty value apart from none: `-c ''` is a program.
CLI::Option* AddText(CLI::App* parser, const std::string& name, std::optional<std::string>& value,
                     const std::string& type, const std::string& help);

// An option that may be given several times, each with one value or several with commas. Given with
// an empty value it is an empty list.
CLI::Option* AddList(CLI::App* parser, const std::string& name,
                     std::optional<std::vector<std::string>>& values, const std::string& type,
                     const std::string& help);

// An option that takes one of `choices`; anything else is a usage error with a suggestion.
CLI::Option* AddChoice(CLI::App* parser, const std::string& name, std::string& value,
                       const std::vector<std::string>& choices, const std::string& help);

// "a|b": the type name of a closed choice.
std::string JoinChoices(const std::vector<std::string>& choices);

// The closed choice that the value of `option` is from; empty when it is none.
std::vector<std::string> ChoicesOf(const CLI::Option& option);

// Whether the option takes a value at all.
bool TakesValue(const CLI::Option& option);

// The long and short names, with their dashes: "--stdin"; none for a positional.
std::vector<std::string> NamesOf(const CLI::Option& option);

// The text below the options: one example a line, "command  # what it does".
void SetExamples(CLI::App* parser, const std::vector<std::string>& examples);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_OPTION_TABLE_H_
