// The three shells' completion scripts as text, from one neutral description of the commands.
#ifndef BELLJAR_CLI_COMPLETION_SCRIPTS_H_
#define BELLJAR_CLI_COMPLETION_SCRIPTS_H_

#include <string>
#include <vector>

namespace belljar::cli {

struct CompletionOption {
  std::vector<std::string> names;  // with their dashes; none: a positional
  std::string help;
  std::string type;  // as in help: "TIME"
  bool takes_value = false;
  bool takes_file = false;
  bool takes_directory = false;
  std::vector<std::string> values;  // what may be written, as far as it is a list
};

struct CompletionCommand {
  std::string name;  // empty: belljar itself; of one of another's: both, "image build"
  std::string help;
  std::vector<CompletionOption> options;
};

// `commands[0]` is belljar itself.
std::string BashScript(const std::vector<CompletionCommand>& commands);
std::string ZshScript(const std::vector<CompletionCommand>& commands);
std::string FishScript(const std::vector<CompletionCommand>& commands);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_COMPLETION_SCRIPTS_H_
