// Completion scripts for three shells, generated from one description of the commands.
#ifndef BELLJAR_CLI_COMPLETION_SCRIPTS_H_
#define BELLJAR_CLI_COMPLETION_SCRIPTS_H_

#include <string>
#include <vector>

namespace belljar::cli {

struct CompletionOption {
  std::vector<std::string> names;  // with dashes; none for a positional
  std::string help;
  std::string type;  // as in help: "TIME"
  bool takes_value = false;
  bool takes_file = false;
  bool takes_directory = false;
  std::vector<std::string> values;  // the possible values, if enumerated
};

struct CompletionCommand {
  std::string name;  // empty: belljar itself; subcommands: "image build"
  std::string help;
  std::vector<CompletionOption> options;
};

// `commands[0]` is belljar itself.
std::string BashScript(const std::vector<CompletionCommand>& commands);
std::string ZshScript(const std::vector<CompletionCommand>& commands);
std::string FishScript(const std::vector<CompletionCommand>& commands);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_COMPLETION_SCRIPTS_H_
