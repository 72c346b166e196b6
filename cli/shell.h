// What `belljar shell` and `belljar run --project` have in common: commands in a session of the
// shell.
#ifndef BELLJAR_CLI_SHELL_H_
#define BELLJAR_CLI_SHELL_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/limit_options.h"
#include "cli/package_options.h"
#include "cli/sandbox_choice.h"

namespace belljar::cli {

struct ShellArguments {
  const char* name = "shell";        // of the command, for its errors
  std::vector<std::string> command;  // empty: Bash
  std::optional<std::string> project;
  std::vector<std::string> files;
  std::vector<std::string> environment;
  std::optional<std::string> directory;
  bool no_terminal = false;
  PackageArguments packages;
  SandboxChoice sandbox;
  LimitOptions limits;
};

// Returns the exit code.
int RunShell(const ShellArguments& arguments);

}  // namespace belljar::cli

#endif  // BELLJAR_CLI_SHELL_H_
