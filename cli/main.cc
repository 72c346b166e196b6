// The command line: registers the commands with one parser and runs the selected one.

#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/image_loaders.h"
#include "cli/parse.h"

namespace belljar::cli {
namespace {

using Commands = std::vector<Command>;

template <Command (*make)(CLI::App& app)>
Commands One(CLI::App& app) {
  Commands commands;
  commands.push_back(make(app));
  return commands;
}

// Commands added to the parser together: those whose first word is `name`.
struct Group {
  std::string_view name;
  Commands (*make)(CLI::App& app);
  bool about_all = false;  // it describes the other commands
};

// In the order of the help text.
constexpr Group kGroups[] = {
    {"run", One<MakeRunCommand>},
    {"repl", One<repl::MakeReplCommand>},
    {"shell", One<MakeShellCommand>},
    {"changes", One<MakeChangesCommand>},
    {"validate", One<validate::MakeValidateCommand>},
    {"rules", One<MakeRulesCommand>},
    {"serve", One<MakeServeCommand>},
    {"config", One<MakeConfigCommand>},
    {"audit", MakeAuditCommands},
    {"receipt", MakeReceiptCommands},
    {"image", [](CLI::App& app) { return MakeImageCommands(app, DefaultImageLoaders()); }},
    {"kernel", MakeKernelCommands},
    {"languages", One<MakeLanguagesCommand>},
    {"info", One<MakeInfoCommand>},
    {"doctor", One<MakeDoctorCommand>},
    {"completion", One<MakeCompletionCommand>, true},
    {"help", MakeHelpCommands, true},
};

// Adds the command that `first` names; all of them if it names none, or one that describes the
// others. Defining all options takes a millisecond, which `belljar run` need not spend.
Commands AddCommands(CLI::App& app, std::string_view first) {
  const auto* const named = std::ranges::find(kGroups, first, &Group::name);
  if (named != std::end(kGroups) && !named->about_all) return named->make(app);
  Commands all;
  for (const Group& group : kGroups) {
    for (Command& command : group.make(app)) all.push_back(std::move(command));
  }
  return all;
}

int Main(const std::vector<std::string>& arguments) {
  CLI::App app("Belljar runs untrusted Python in a sandbox and reports which layers contained it.",
               "belljar");
  PrepareParser(app);
  app.set_version_flag("--version", VersionText(), "print the version and exit");
  const Commands commands = AddCommands(app, arguments.empty() ? "" : arguments.front());
  SetExamples(&app,
              {"belljar run program.py  # run a program in the sandbox",
               "belljar run -c 'print(6 * 7)'  # or code from the command line",
               "belljar repl  # an interactive prompt, in the sandbox",
               "belljar validate program.py  # what would be refused, and what to write instead",
               "belljar serve  # MCP over stdio; --http: over HTTP",
               "belljar doctor  # which layers this machine supports",
               "belljar run --help  # all options of a command"});
  const std::variant<const Command*, int> parsed = Parse(app, commands, arguments);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  return std::get<const Command*>(parsed)->execute();
}

}  // namespace
}  // namespace belljar::cli

int main(int count, char** arguments) {
  belljar::cli::OpenMissingStandardStreams();
  // If the reader is gone, write fails with EPIPE, which each caller handles.
  signal(SIGPIPE, SIG_IGN);
  try {
    return belljar::cli::Main(
        std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count));
  } catch (const std::exception& error) {
    return belljar::cli::OwnFailure(belljar::core::MakeError("unexpected", error.what()));
  }
}
