// The command line: registers the commands with one parser and runs the selected one.

#include <signal.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include "cli/audit.h"
#include "cli/completion.h"
#include "cli/config.h"
#include "cli/console.h"
#include "cli/doctor.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/image.h"
#include "cli/image_loaders.h"
#include "cli/info.h"
#include "cli/kernel.h"
#include "cli/parse.h"
#include "cli/receipt.h"
#include "cli/repl/command.h"
#include "cli/rules.h"
#include "cli/run.h"
#include "cli/serve.h"
#include "cli/validate/command.h"

namespace belljar::cli {
namespace {

int Main(const std::vector<std::string>& arguments) {
  CLI::App app("Belljar runs untrusted Python in a sandbox and reports which layers contained it.",
               "belljar");
  PrepareParser(app);
  app.set_version_flag("--version", VersionText(), "print the version and exit");
  std::vector<Command> commands = {
      MakeRunCommand(app),   repl::MakeReplCommand(app), validate::MakeValidateCommand(app),
      MakeRulesCommand(app), MakeServeCommand(app),      MakeConfigCommand(app)};
  for (Command& command : MakeAuditCommands(app)) commands.push_back(std::move(command));
  for (Command& command : MakeReceiptCommands(app)) commands.push_back(std::move(command));
  for (Command& command : MakeImageCommands(app, DefaultImageLoaders()))
    commands.push_back(std::move(command));
  for (Command& command : MakeKernelCommands(app)) commands.push_back(std::move(command));
  for (const auto make : {MakeInfoCommand, MakeDoctorCommand, MakeCompletionCommand}) {
    commands.push_back(make(app));
  }
  for (Command& command : MakeHelpCommands(app)) commands.push_back(std::move(command));
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
