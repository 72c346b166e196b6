#include "cli/validate/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>

#include "cli/validate/settings_file.h"
#include "engine/core/text.h"

namespace belljar::validate {
namespace {

namespace fs = std::filesystem;

constexpr char kPatternType[] = "PATTERN";

Result<size_t> ParseJobs(const std::string& text) {
  size_t jobs = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  if (error != std::errc() || end != text.data() + text.size() || jobs < 1 || jobs > kMostJobs) {
    return MakeError(
        "--jobs " + Quoted(text) + ": write a whole number from 1 to " + std::to_string(kMostJobs),
        "");
  }
  return jobs;
}

Result<std::optional<SettingsFile>> ChooseFile(const Options& options,
                                               const std::string& working_folder,
                                               std::vector<std::string>& notes) {
  if (options.config && options.isolated) {
    return MakeError("--config names a configuration and --isolated reads none: give one of them",
                     "");
  }
  if (options.isolated) return std::optional<SettingsFile>();
  if (!options.config) return FindSettingsFile(working_folder, notes);
  const std::string path = (fs::path(working_folder) / *options.config).lexically_normal();
  return std::optional(SettingsFile{path, true});
}

// What was given on the command line beats what `settings` has.
Result<void> TakeOptions(const Options& options, const std::string& working_folder,
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
    const Result<size_t> jobs = ParseJobs(*options.jobs);
    if (!jobs) return jobs.error();
    settings.jobs = *jobs;
    settings.origins["jobs"] = "--jobs";
  }
  return {};
}

void AddInputOptions(CLI::App* parser, Options& options) {
  parser
      ->add_option("FILE", options.files,
                   "programs, and directories with programs; - or nothing: standard input")
      ->type_name(kFileType);
  AddText(parser, "--files-from", options.files_from, kFileType,
          "a list of more of them, one a line or separated by NUL; -: on standard input");
  AddText(parser, "--stdin-filename", options.standard_input_name, "NAME",
          "what standard input is called in the report, and judged as");
  AddList(parser, "--include", options.include, kPatternType,
          "which files of a directory, as in .gitignore; again or with commas for more "
          "(default: *.py)");
  AddList(parser, "--exclude", options.exclude, kPatternType,
          "which files and directories to leave out of a directory, as in .gitignore");
  parser->add_flag("--no-ignore", options.no_ignore,
                   "look everywhere but where you said not to: also in what .gitignore and "
                   ".belljarignore name, in hidden directories and virtual environments");
}

void AddJudgingOptions(CLI::App* parser, Options& options) {
  AddSandboxOptions(parser, options.sandbox);
  AddImportsOption(parser, options.allowed_imports);
  AddList(parser, "--select", options.select, kRuleType,
          "only findings of these rules: ids or beginnings of ids, such as BJ2,BJ301");
  AddList(parser, "--ignore", options.ignore, kRuleType, "no findings of these rules");
  AddText(parser, "--baseline", options.baseline, kFileType,
          "findings that are known: they are not reported");
  AddText(parser, "--write-baseline", options.write_baseline, kFileType,
          "accept all findings there are: write them to FILE");
  AddText(parser, "--config", options.config, kFileType,
          "the configuration (default: belljar.toml or pyproject.toml, here or above)");
  parser->add_flag("--isolated", options.isolated,
                   "let nothing that lies beside the code decide: no configuration, no ignore "
                   "files; for the code of strangers");
}

void AddShowOptions(CLI::App* parser, Options& options) {
  parser->add_flag("--show-config", options.show_config,
                   "print what is in force and what says so, and check nothing");
  parser->add_flag("--show-files", options.show_files,
                   "print which files would be checked, and check nothing");
}

void AddReportOptions(CLI::App* parser, Options& options) {
  options.format_option =
      AddChoice(parser, "--format", options.format, FormatNames(), "how to print the findings");
  AddText(parser, "--output", options.output, kFileType,
          "where to write the report (default: standard output)");
  AddText(parser, "--jobs", options.jobs, "N",
          "how many files to check at a time (default: the number of processors)");
  parser->add_flag("-q,--quiet", options.quiet,
                   "nothing but findings and errors: no summary, notes or progress");
  parser->add_flag("--statistics", options.statistics,
                   "how many findings each rule has, on standard error");
  parser->add_flag("--exit-zero", options.exit_zero, "exit with 0 also when there are findings");
}

}  // namespace

void AddOptions(CLI::App* parser, Options& options) {
  AddInputOptions(parser, options);
  AddJudgingOptions(parser, options);
  AddReportOptions(parser, options);
  AddShowOptions(parser, options);
}

Result<Settings> ResolveSettings(const Options& options, const std::string& working_folder,
                                 std::vector<std::string>& notes) {
  Settings settings;
  settings.folder = settings.include_folder = settings.exclude_folder = working_folder;
  const Result<std::optional<SettingsFile>> file = ChooseFile(options, working_folder, notes);
  if (!file) return file.error();
  if (*file) {
    if (Result<void> read = ReadSettings(**file, FormatNames(), settings); !read) {
      return read.error();
    }
  }
  if (Result<void> taken = TakeOptions(options, working_folder, settings); !taken) {
    return taken.error();
  }
  return settings;
}

}  // namespace belljar::validate
