#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/parse.h"
#include "engine/host/version.h"

namespace belljar::cli {

std::string VersionText() {
  return std::string("belljar ") + host::kBelljarVersion + " (CPython " + host::kPythonVersion +
         ")";
}

std::vector<Command> MakeHelpCommands(CLI::App& app) {
  auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* help = AddCommand(app, "help", "Print the help of a command");
  help->add_option("COMMAND", *names, "a command, such as image or image build (default: belljar)")
      ->type_name(kCommandType);
  SetExamples(help, {"belljar help run  # all options of a command, like belljar run --help",
                     "belljar help image build  # a subcommand"});
  CLI::App* version = AddCommand(app, "version", "Print the version");
  SetExamples(version, {"belljar version  # like belljar --version",
                        "belljar version | cut -d' ' -f2  # the number alone"});
  return {{help, [&app, names] { return PrintHelp(app, *names); }},
          {version, [] { return Answer(VersionText() + "\n", kExitOk); }}};
}

}  // namespace belljar::cli
