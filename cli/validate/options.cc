#include "cli/validate/options.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/validate/settings_file.h"
#include "engine/core/text.h"
#include "engine/host/number.h"

namespace belljar::cli::validate {
namespace {

namespace fs = std::filesystem;

constexpr char kPatternType[] = "PATTERN";

core::Result<size_t> ParseJobs(const std::string& text) {
  const auto jobs = host::NumberFrom<size_t>(text);
  if (!jobs || *jobs < 1 || *jobs > kMaxJobs) {
    return core::MakeError("--jobs " + core::Quoted(text) + ": write a whole number from 1 to " +
                               std::to_string(kMaxJobs),
                           "");
  }
  return *jobs;
}

core::Result<std::optional<SettingsFile>> ChooseFile(const Options& options,
                                                     const std::string& working_folder,
                                                     std::vector<std::string>& notes) {
  if (options.config && options.isolated) {
    return core::MakeError("--config and --isolated are mutually exclusive", "");
  }
  if (options.isolated) return std::optional<SettingsFile>();
  if (!options.config) return FindSettingsFile(working_folder, notes);
  const std::string path = (fs::path(working_folder) / *options.config).lexically_normal();
  return std::optional(SettingsFile{path, true});
}

// Options on the command line override `settings`.
core::Result<void> TakeOptions(const Options& options, const std::string& working_folder,
                               Settings& settings) {
  const auto take = [&settings](const std::string& key, const auto& given, auto& setting) {
    if (!given) return false;
    setting = *given;
    settings.origins[key] = "--" + key;
    return true;
  };
  take("profile", options.sandbox.profile, settings.profile);
  if (take("allowed-imports", options.allowed_imports, settings.allowed_imports)) {
    settings.origins["allowed-imports"] = "--allow-import";
  }
  if (take("include", options.include, settings.include)) {
    settings.include_folder = working_folder;
  }
  if (take("exclude", options.exclude, settings.exclude)) {
    settings.exclude_folder = working_folder;
  }
  take("select", options.select, settings.select);
  take("ignore", options.ignore, settings.ignore);
  take("baseline", options.baseline, settings.baseline);
  if (options.format_option->count() > 0) {
    settings.format = options.format;
    settings.origins["format"] = "--format";
  }
  if (options.no_ignore || options.isolated) {
    settings.ignore_files = false;
    settings.origins["ignore-files"] = options.isolated ? "--isolated" : "--no-ignore";
  }
  if (options.jobs) {
    const core::Result<size_t> jobs = ParseJobs(*options.jobs);
    if (!jobs) return jobs.error();
    settings.jobs = *jobs;
    settings.origins["jobs"] = "--jobs";
  }
  return {};
}

void AddInputOptions(CLI::App* parser, Options& options) {
  parser
      ->add_option("FILE", options.files,
                   "programs, and directories with programs; - or omitted: standard input")
      ->type_name(kFileType);
  AddText(parser, "--files-from", options.files_from, kFileType,
          "file with a list of more programs, one per line or NUL-separated; -: standard input");
  AddText(parser, "--stdin-filename", options.standard_input_name, "NAME",
          "file name to report for standard input");
  AddList(parser, "--include", options.include, kPatternType,
          "files to check in a directory, as patterns of .gitignore; comma-separated or repeated "
          "(default: *.py)");
  AddList(parser, "--exclude", options.exclude, kPatternType,
          "files and directories to skip, as patterns of .gitignore");
  parser->add_flag("--no-ignore", options.no_ignore,
                   "do not skip files named in .gitignore and .belljarignore, hidden directories "
                   "and virtual environments");
}

void AddJudgingOptions(CLI::App* parser, Options& options) {
  AddSandboxOptions(parser, options.sandbox, profiles::kUnnamedProfile);
  AddImportsOption(parser, options.allowed_imports);
  AddList(parser, "--select", options.select, kRuleType,
          "report only these rules: IDs or prefixes of IDs, such as BJ2,BJ301");
  AddList(parser, "--ignore", options.ignore, kRuleType, "do not report these rules");
  AddText(parser, "--baseline", options.baseline, kFileType,
          "file with known findings, which are not reported");
  AddText(parser, "--write-baseline", options.write_baseline, kFileType,
          "accept all current findings: write them to FILE");
  AddText(parser, "--config", options.config, kFileType,
          "the configuration (default: belljar.toml or pyproject.toml, here or above)");
  parser->add_flag("--isolated", options.isolated,
                   "ignore configuration and ignore files found with the code; for untrusted code");
}

void AddShowOptions(CLI::App* parser, Options& options) {
  parser->add_flag("--show-config", options.show_config,
                   "print the effective settings and where each comes from, and check nothing");
  parser->add_flag("--needs", options.needs,
                   "print which profile and which packages the programs would need, and how many "
                   "findings remain with them");
  parser->add_flag("--show-files", options.show_files,
                   "print which files would be checked, and check nothing");
}

void AddReportOptions(CLI::App* parser, Options& options) {
  options.format_option =
      AddChoice(parser, "--format", options.format, FormatNames(), "how to print the findings");
  AddText(parser, "--output", options.output, kFileType,
          "where to write the report (default: standard output)");
  AddText(parser, "--jobs", options.jobs, "N",
          "number of files to check in parallel (default: the number of processors)");
  parser->add_flag("-q,--quiet", options.quiet,
                   "print only findings and errors: no summary, notes or progress");
  parser->add_flag("--statistics", options.statistics,
                   "print the number of findings of each rule on standard error");
  parser->add_flag("--exit-zero", options.exit_zero, "exit with 0 even if there are findings");
}

}  // namespace

void AddOptions(CLI::App* parser, Options& options) {
  AddInputOptions(parser, options);
  AddJudgingOptions(parser, options);
  AddReportOptions(parser, options);
  AddShowOptions(parser, options);
}

core::Result<Settings> ResolveSettings(const Options& options, const std::string& working_folder,
                                       std::vector<std::string>& notes) {
  Settings settings;
  settings.folder = settings.include_folder = settings.exclude_folder = working_folder;
  const core::Result<std::optional<SettingsFile>> file = ChooseFile(options, working_folder, notes);
  if (!file) return file.error();
  if (*file) {
    if (core::Result<void> read = ReadSettings(**file, FormatNames(), settings); !read) {
      return read.error();
    }
  }
  if (core::Result<void> taken = TakeOptions(options, working_folder, settings); !taken) {
    return taken.error();
  }
  return settings;
}

}  // namespace belljar::cli::validate
