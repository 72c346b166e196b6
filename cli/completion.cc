#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "cli/commands.h"
#include "cli/completion_scripts.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/validate/rules.h"
#include "engine/core/text.h"
#include "engine/profiles/profile_catalogue.h"

namespace belljar::cli {
namespace {

// Values from the installation, in addition to those known to the parser.
struct Offers {
  std::vector<std::string> profiles;
  std::vector<std::string> modules;  // all profiles
  std::vector<std::string> rules;    // their IDs
  std::vector<std::string> commands;
};

// Without an installation there are no such values, but options are still completed.
Offers CollectOffers() {
  Offers offers;
  const core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) return offers;
  offers.profiles = catalogue->Names();
  std::set<std::string> modules;
  for (const core::Profile& profile : catalogue->profiles()) {
    for (std::string& name : profiles::ModuleNames(profile)) modules.insert(std::move(name));
  }
  offers.modules.assign(modules.begin(), modules.end());
  if (const core::Result<std::vector<validate::Rule>> rules = validate::LoadRules()) {
    for (const validate::Rule& rule : *rules) offers.rules.push_back(rule.id);
  }
  return offers;
}

CompletionOption Describe(const CLI::Option& option, const Offers& offers) {
  CompletionOption described;
  described.names = NamesOf(option);
  described.help = option.get_description();
  described.takes_value = TakesValue(option);
  if (!described.takes_value) return described;
  described.type = option.get_type_name();
  described.takes_file = described.type.starts_with(kFileType) || described.type == kProfileType;
  described.takes_directory = described.type == "DIR";
  described.values = ChoicesOf(option);
  if (described.type == kProfileType) described.values = offers.profiles;
  if (described.type == kModuleType) described.values = offers.modules;
  if (described.type == kRuleType) described.values = offers.rules;
  if (described.type == kCommandType) described.values = offers.commands;
  return described;
}

// Describes `parser` and its subcommands, whose names begin with its name: "image", "image build".
void Describe(const CLI::App& parser, const std::string& name, const Offers& offers,
              std::vector<CompletionCommand>& commands) {
  CompletionCommand command{name, parser.get_description(), {}};
  for (const CLI::Option* option : parser.get_options()) {
    if (!IsHidden(*option)) command.options.push_back(Describe(*option, offers));
  }
  commands.push_back(std::move(command));
  for (const CLI::App* below : parser.get_subcommands([](const CLI::App*) { return true; })) {
    Describe(*below, (name.empty() ? "" : name + " ") + below->get_name(), offers, commands);
  }
}

int ExecuteCompletion(const CLI::App& app, const std::string& shell) {
  Offers offers = CollectOffers();
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    offers.commands.push_back(command->get_name());
  }
  std::vector<CompletionCommand> commands;
  Describe(app, "", offers, commands);
  if (shell == "bash") return Answer(BashScript(commands), kExitOk);
  if (shell == "zsh") return Answer(ZshScript(commands), kExitOk);
  return Answer(FishScript(commands), kExitOk);
}

}  // namespace

Command MakeCompletionCommand(CLI::App& app) {
  const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  auto shell = std::make_shared<std::optional<std::string>>();
  CLI::App* parser = app.add_subcommand("completion", "Print a completion script for a shell");
  AddText(parser, "SHELL", *shell, JoinChoices(shells), "the shell")->required();
  SetExamples(parser, {"source <(belljar completion bash)  # this session of bash",
                       "belljar completion zsh > ~/.zfunc/_belljar  # zsh: a folder of fpath",
                       "belljar completion fish | source  # this session of fish"});
  return {parser, [&app, shell, shells] {
            if (std::find(shells.begin(), shells.end(), **shell) == shells.end()) {
              return UsageError("completion",
                                core::Quoted(**shell) + " is none of " + JoinChoices(shells));
            }
            return ExecuteCompletion(app, **shell);
          }};
}

}  // namespace belljar::cli
