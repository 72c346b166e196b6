// The command line of `belljar validate`, and the settings from it and a configuration file.
#ifndef BELLJAR_CLI_VALIDATE_OPTIONS_H_
#define BELLJAR_CLI_VALIDATE_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/option_table.h"
#include "cli/sandbox_choice.h"
#include "cli/validate/formats.h"
#include "cli/validate/settings.h"
#include "engine/core/result.h"

namespace belljar::cli::validate {

struct Options {
  std::vector<std::string> files;
  std::optional<std::string> files_from;
  std::optional<std::string> standard_input_name;
  SandboxChoice sandbox;
  std::optional<std::vector<std::string>> allowed_imports;
  std::optional<std::vector<std::string>> include;
  std::optional<std::vector<std::string>> exclude;
  bool no_ignore = false;
  std::optional<std::vector<std::string>> select;
  std::optional<std::vector<std::string>> ignore;
  std::optional<std::string> baseline;
  std::optional<std::string> write_baseline;
  std::optional<std::string> config;
  bool isolated = false;
  bool show_config = false;
  bool show_files = false;
  bool needs = false;
  std::string format = kTextFormat;
  const CLI::Option* format_option = nullptr;  // to see whether it was given
  std::optional<std::string> output;
  std::optional<std::string> jobs;
  bool quiet = false;
  bool statistics = false;
  bool exit_zero = false;
};

void AddOptions(CLI::App* parser, Options& options);

// Defaults, overridden by the named or found file, then by the command line. `working_folder` is
// absolute. Errors are user errors; `notes` receives messages for the user.
core::Result<Settings> ResolveSettings(const Options& options, const std::string& working_folder,
                                       std::vector<std::string>& notes);

}  // namespace belljar::cli::validate

#endif  // BELLJAR_CLI_VALIDATE_OPTIONS_H_
