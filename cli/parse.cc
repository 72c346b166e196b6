#include "cli/parse.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>

#include "cli/colors.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "engine/core/text.h"
#include "engine/host/suggest.h"

namespace belljar::cli {
namespace {

std::vector<std::string> KnownOptions(const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::Option* option : parser.get_options()) {
    if (IsHidden(*option)) continue;
    for (std::string& name : NamesOf(*option)) names.push_back(std::move(name));
  }
  return names;
}

// The full name of a subcommand: "image build".
std::string FullName(const CLI::App& parser) {
  const CLI::App* above = parser.get_parent();
  const bool is_nested = above && above->get_parent();
  return (is_nested ? FullName(*above) + " " : "") + parser.get_name();
}

// The subcommands of `parser`, which may be belljar itself.
std::vector<std::string> KnownCommands(const CLI::App& parser) {
  std::vector<std::string> names;
  for (const CLI::App* command : parser.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// Formats help in two columns, with the second one wrapped.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(kColumn);
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
  }

  // The name of an argument is sufficient; its type is only for completion.
  std::string make_option_opts(const CLI::Option* option) const override {
    if (!option->get_positional()) return CLI::Formatter::make_option_opts(option);
    return option->get_name() == option->get_type_name() ? "" : " " + option->get_type_name();
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::istringstream words(option->get_description());
    std::string text;
    size_t column = 0;
    for (std::string word; words >> word; column += word.size()) {
      const bool fits = column + 1 + word.size() <= kWidth - kColumn;
      if (!text.empty()) text += fits ? ' ' : '\n';
      column = fits ? column + 1 : 0;
      text += word;
    }
    return text;
  }

 private:
  static constexpr size_t kColumn = 32;
  static constexpr size_t kWidth = 100;
};

bool IsOption(const std::string& argument) { return argument.size() > 1 && argument[0] == '-'; }

// The first argument that `parser` did not consume; empty if there is none.
std::string FirstExtra(const CLI::App& parser) {
  // An empty argument counts, too; it is shown as "".
  for (const std::string& extra : parser.remaining()) {
    if (extra != "--") return extra.empty() ? "\"\"" : extra;
  }
  return "";
}

std::string UnknownOption(const CLI::App& parser, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  return "unknown option " + core::Quoted(name) + host::Suggestion(name, KnownOptions(parser));
}

int Unexpected(const CLI::App& parser, const std::string& argument) {
  const std::string command = FullName(parser);
  if (IsOption(argument)) return UsageError(command, UnknownOption(parser, argument));
  return UsageError(command, "unexpected argument " + core::Quoted(argument));
}

int UnknownCommand(const CLI::App& parser, const std::string& argument) {
  const std::string above = parser.get_parent() ? FullName(parser) : "";
  if (IsOption(argument)) return UsageError(above, UnknownOption(parser, argument));
  if (above.empty() && argument.ends_with(".py")) {
    return UsageError("", "unknown command " + core::Quoted(argument) +
                              "; to run a file: belljar run " + core::Printable(argument));
  }
  const std::vector<std::string> known = KnownCommands(parser);
  return UsageError(above, "unknown command " + core::Quoted(argument) +
                               host::Suggestion(argument, known) +
                               "\nThe commands are: " + CLI::detail::join(known, ", ") + ".");
}

int AnswerHelp(const std::string& text) {
  return Answer(UsesColors("auto", STDOUT_FILENO) ? WithBoldHeadings(text) : text, kExitOk);
}

// The subcommand of `parser` with this name; null if there is none.
const CLI::App* Below(const CLI::App& parser, const std::string& name) {
  const auto found =
      parser.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

// The selected command; for a subcommand, not its parent.
const Command* Chosen(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (command.parser->parsed() && command.parser->get_subcommands().empty()) return &command;
  }
  return nullptr;
}

// The command that takes all arguments after "--", if `arguments` are for one.
const Command* TakerOfRest(const std::vector<Command>& commands,
                           const std::vector<std::string>& arguments) {
  const auto found = std::ranges::find_if(commands, [&](const Command& command) {
    return command.rest && !arguments.empty() && command.parser->get_name() == arguments.front();
  });
  return found == commands.end() ? nullptr : &*found;
}

// Inserts what the parser left over before the arguments after "--". An option among it is unknown.
std::optional<int> TakeRest(const Command& command) {
  std::vector<std::string> extras;
  for (const std::string& extra : command.parser->remaining()) {
    if (IsOption(extra)) {
      return UsageError(FullName(*command.parser),
                        UnknownOption(*command.parser, extra) +
                            "\nThe program's own options follow --: belljar run program.py -- " +
                            core::Printable(extra));
    }
    extras.push_back(extra);
  }
  command.rest->insert(command.rest->begin(), extras.begin(), extras.end());
  return std::nullopt;
}

}  // namespace

void PrepareParser(CLI::App& app) {
  // Unknown arguments are reported by this file, with suggestions. Subcommands inherit this setting
  // and the help format.
  app.allow_extras();
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "print this help and exit");
  // At most one, because `belljar run info` runs the file "info".
  app.require_subcommand(0, 1);
}

std::variant<const Command*, int> Parse(CLI::App& app, const std::vector<Command>& commands,
                                        const std::vector<std::string>& arguments) {
  for (const Command& command : commands) command.parser->group("Commands");
  // Not left to CLI11, which takes "--" as the end of a subcommand.
  auto end = arguments.end();
  if (const Command* taker = TakerOfRest(commands, arguments)) {
    end = std::ranges::find(arguments, "--");
    if (end != arguments.end()) taker->rest->assign(end + 1, arguments.end());
  }
  try {
    app.parse(std::vector<std::string>(std::make_reverse_iterator(end), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return AnswerHelp(app.help());
  } catch (const CLI::CallForVersion& version) {
    return Answer(std::string(version.what()) + "\n", kExitOk);
  } catch (const std::exception& error) {
    const Command* command = Chosen(commands);
    return UsageError(command ? FullName(*command->parser) : "", core::Printable(error.what()));
  }
  if (const std::string extra = FirstExtra(app); !extra.empty()) {
    const Command* command = Chosen(commands);
    const bool follows_command = command && !IsOption(extra);
    return follows_command ? Unexpected(*command->parser, extra) : UnknownCommand(app, extra);
  }
  const Command* command = Chosen(commands);
  if (!command) {
    Say(app.help());
    return kExitUsage;
  }
  if (command->rest) {
    const std::optional<int> refused = TakeRest(*command);
    return refused ? std::variant<const Command*, int>(*refused) : command;
  }
  for (const CLI::App* parser = command->parser; parser != &app; parser = parser->get_parent()) {
    if (const std::string extra = FirstExtra(*parser); !extra.empty()) {
      return KnownCommands(*parser).empty() ? Unexpected(*parser, extra)
                                            : UnknownCommand(*parser, extra);
    }
  }
  return command;
}

int PrintHelp(const CLI::App& app, const std::vector<std::string>& names) {
  const CLI::App* parser = &app;
  std::string full_name = app.get_name();
  for (const std::string& name : names) {
    const CLI::App* const below = Below(*parser, name);
    if (!below) {
      return KnownCommands(*parser).empty() ? Unexpected(*parser, name)
                                            : UnknownCommand(*parser, name);
    }
    parser = below;
    full_name += " " + name;
  }
  // Not parser->help(), which would be that of the selected command, help itself.
  return AnswerHelp(app.get_formatter()->make_help(parser, full_name, CLI::AppFormatMode::Normal));
}

}  // namespace belljar::cli
