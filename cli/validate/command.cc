#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/interruption.h"
#include "cli/sandbox_choice.h"
#include "cli/validate/files.h"
#include "cli/validate/needs.h"
#include "cli/validate/options.h"
#include "cli/validate/parallel_checks.h"
#include "cli/validate/rules.h"
#include "cli/validate/validation.h"
#include "engine/core/text.h"
#include "engine/host/version.h"
#include "engine/outside/sandbox.h"

namespace belljar::cli::validate {
namespace {

using validate::Options;
using validate::Settings;

// The resolved arguments and settings.
struct Job {
  validate::Search search;
  validate::ValidationOptions validation;
  validate::CheckOptions check;
  outside::SandboxOptions sandbox;
  size_t jobs = 1;
};

// A terminal, /dev/null or a closed descriptor: a pipeline that forgot to name files must not look
// like a program without findings.
bool IsNoProgram(int fd) {
  struct stat status;
  return fstat(fd, &status) != 0 || S_ISCHR(status.st_mode);
}

core::Result<void> TakeInputs(const Options& options, const Settings& settings, Job& job) {
  validate::Search& search = job.search;
  search.working_folder = job.validation.working_folder;
  search.named = options.files;
  if (options.files_from) {
    core::Result<std::vector<std::string>> listed = validate::ReadFileList(*options.files_from);
    if (!listed) return listed.error();
    search.named.insert(search.named.end(), listed->begin(), listed->end());
  } else if (search.named.empty()) {
    if (IsNoProgram(STDIN_FILENO)) {
      return UsersError(
          "which files?\n"
          "  belljar validate program.py   a file\n"
          "  belljar validate .            all programs below this directory\n"
          "  belljar validate - < program.py");
    }
    search.named = {"-"};
  }
  const bool reads_source =
      std::find(search.named.begin(), search.named.end(), "-") != search.named.end();
  if (reads_source && options.files_from == "-") {
    return UsersError("standard input cannot be both a program and the list of --files-from");
  }
  if (options.standard_input_name) search.standard_input_name = *options.standard_input_name;
  search.project_folder = settings.folder;
  search.include = {settings.include_folder, validate::IgnoreRules::Of(settings.include)};
  search.exclude = {settings.exclude_folder, validate::IgnoreRules::Of(settings.exclude)};
  search.uses_ignore_files = settings.ignore_files;
  return {};
}

core::Result<void> TakeSelection(const Settings& settings, Job& job) {
  core::Result<std::vector<validate::Rule>> rules = validate::LoadRules();
  if (!rules) return rules.error();
  std::vector<std::string> ids;
  for (const validate::Rule& rule : *rules) ids.push_back(rule.id);
  core::Result<validate::RuleSelection> selection = validate::RuleSelection::Make(settings, ids);
  if (!selection) return selection.error();
  job.validation.selection = std::move(*selection);
  return {};
}

core::Result<void> TakeSandbox(const Options& options, const Settings& settings, Job& job) {
  SandboxChoice choice = options.sandbox;
  choice.profile = settings.profile;
  core::Result<profiles::ProfileCatalogue> catalogue = profiles::ProfileCatalogue::Open();
  if (!catalogue) return catalogue.error();
  const auto origin = settings.origins.find("profile");
  core::Result<outside::SandboxOptions> sandbox = ResolveSandbox(choice, *catalogue);
  if (!sandbox) {
    const bool is_option = origin == settings.origins.end() || origin->second.starts_with("--");
    return UsersError((is_option ? "" : origin->second + ": ") + sandbox.error().ToString());
  }
  job.sandbox = std::move(*sandbox);
  if (!settings.allowed_imports) return {};
  job.check.allowed_imports = settings.allowed_imports;
  return profiles::CheckAllowedImports(*settings.allowed_imports, job.sandbox.profile,
                                       settings.origins.at("allowed-imports"));
}

core::Result<void> TakeFiles(const Options& options, const Settings& settings, Job& job) {
  // A new baseline contains all findings, whether or not the old one had them.
  if (settings.baseline && !options.write_baseline) {
    core::Result<validate::Baseline> baseline = validate::Baseline::Read(*settings.baseline);
    if (!baseline) return baseline.error();
    job.validation.baseline = std::move(*baseline);
  }
  job.validation.write_baseline = options.write_baseline;
  if (!options.output) return {};
  core::Result<validate::AtomicFile> output = validate::AtomicFile::Create(*options.output);
  if (!output) return output.error();
  job.validation.output.emplace(std::move(*output));
  return {};
}

// Errors are user errors.
core::Result<Job> Prepare(const Options& options, const Settings& settings,
                          const std::string& working_folder) {
  Job job;
  job.validation.working_folder = working_folder;
  job.validation.format = settings.format;
  job.validation.quiet = options.quiet;
  job.validation.statistics = options.statistics;
  job.validation.exit_zero = options.exit_zero;
  job.check.wants_comments = settings.allow_ignore_comments;
  job.check.wants_needs = options.needs;
  job.jobs =
      settings.jobs > 0 ? settings.jobs : std::max<size_t>(std::thread::hardware_concurrency(), 1);
  if (core::Result<void> taken = TakeInputs(options, settings, job); !taken) return taken.error();
  if (core::Result<void> taken = TakeSelection(settings, job); !taken) return taken.error();
  if (core::Result<void> taken = TakeSandbox(options, settings, job); !taken) return taken.error();
  if (core::Result<void> taken = TakeFiles(options, settings, job); !taken) return taken.error();
  return job;
}

void PrintNotes(const std::vector<std::string>& notes, bool quiet) {
  for (const std::string& note : notes) {
    if (!quiet) Say("belljar validate: note: " + note + "\n");
  }
}

// Checks the targets in parallel and passes each judgement, in their order, to `take`, until that
// returns another code than kExitOk, which is then the result.
int ForEachJudgement(
    const std::vector<validate::Target>& targets, Job& job, const Interruption& interruption,
    validate::Progress& progress,
    const std::function<int(const validate::Target& target, validate::Judgement judgement)>& take) {
  const size_t jobs = std::min(job.jobs, std::max<size_t>(targets.size(), 1));
  // One spare per running check, so that cloning and sealing overlap with the checks.
  job.sandbox.spares = jobs;
  core::Result<std::unique_ptr<outside::Sandbox>> sandbox =
      outside::Sandbox::Open(std::move(job.sandbox));
  if (!sandbox) return OwnFailure(sandbox.error());
  const validate::ProjectModules project(targets);
  const validate::FileChecker checker(**sandbox, project, std::move(job.check));
  validate::ParallelChecks checks(targets, checker, jobs);
  for (const validate::Target& target : targets) {
    core::Result<validate::Judgement> judgement = checks.Next();
    // Checks ended by an interruption are not failures of ours.
    if (interruption.signal() != 0) return ExitOfSignal(interruption.signal());
    if (!judgement) {
      progress.Clear();
      return OwnFailure(judgement.error());
    }
    if (const int code = take(target, std::move(*judgement)); code != kExitOk) return code;
  }
  return kExitOk;
}

// What the programs would need, instead of their findings.
int ShowNeeds(const std::vector<validate::Target>& targets, Job job,
              const Interruption& interruption) {
  validate::Progress progress(targets.size(), !job.validation.quiet);
  validate::Needs needs(job.sandbox.profile.name);
  int exit_code = kExitOk;
  const auto take = [&](const validate::Target& /*target*/, const validate::Judgement& judgement) {
    progress.Step();
    if (!judgement.checked.error.empty()) {
      progress.Clear();
      Say("belljar validate: " + judgement.checked.error + "\n");
      exit_code = judgement.checked.exit_code;
    }
    needs.Add(judgement);
    return kExitOk;
  };
  if (const int code = ForEachJudgement(targets, job, interruption, progress, take);
      code != kExitOk) {
    return code;
  }
  progress.Clear();
  return Answer(job.validation.format == "json" ? needs.Json() : needs.Text(), exit_code);
}

int CheckAll(const std::vector<validate::Target>& targets, Job job,
             const Interruption& interruption) {
  validate::Progress progress(targets.size(), !job.validation.quiet);
  std::unique_ptr<validate::ReportWriter> writer =
      validate::MakeReportWriter(job.validation.format, {.version = host::kBelljarVersion,
                                                         .profile = job.sandbox.profile.name,
                                                         .root = job.validation.working_folder});
  validate::Validation validation(std::move(job.validation), std::move(writer), progress);
  if (targets.empty()) return validation.Finish();
  const auto take = [&](const validate::Target& target, validate::Judgement judgement) {
    return validation.Take(target, std::move(judgement));
  };
  const int code = ForEachJudgement(targets, job, interruption, progress, take);
  return code == kExitOk ? validation.Finish() : code;
}

int ShowFiles(const std::vector<validate::Target>& targets) {
  std::string text;
  int code = kExitOk;
  for (const validate::Target& target : targets) {
    if (target.error.empty()) {
      text += core::Printable(target.shown) + "\n";
    } else {
      Say("belljar validate: " + target.error + "\n");
      code = kExitUsage;
    }
  }
  return Answer(text, code);
}

int Execute(const Options& options) {
  std::error_code failure;
  const std::string working_folder = std::filesystem::current_path(failure).string();
  if (failure)
    return OwnFailure(core::SystemErrorOf(failure.value(), "find the working directory"));
  std::vector<std::string> notes;
  const core::Result<Settings> settings = validate::ResolveSettings(options, working_folder, notes);
  if (!settings) return UsageError("validate", settings.error().ToString());
  PrintNotes(notes, options.quiet);
  if (options.show_config) return Answer(validate::ShowSettings(*settings), kExitOk);
  // From here on an interruption ends the search and the checks. Before, while a list of files is
  // read from standard input, it ends the process.
  core::Result<Job> job = Prepare(options, *settings, working_folder);
  if (!job) return UsageError("validate", job.error().ToString());

  Interruption interruption;
  job->check.cancel_fd = interruption.fd();
  const validate::FoundFiles found =
      validate::FindFiles(job->search, [&] { return interruption.signal() != 0; });
  if (interruption.signal() != 0) return ExitOfSignal(interruption.signal());
  PrintNotes(found.notes, options.quiet);
  if (options.show_files) return ShowFiles(found.targets);
  if (found.targets.empty()) PrintNotes({"no files to check"}, options.quiet);
  return options.needs ? ShowNeeds(found.targets, std::move(*job), interruption)
                       : CheckAll(found.targets, std::move(*job), interruption);
}

}  // namespace

Command MakeValidateCommand(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* parser = AddCommand(app, "validate",
                                "Report what the policy would refuse, without running the program");
  validate::AddOptions(parser, *options);
  SetExamples(parser,
              {"belljar validate program.py  # every finding with line and rule",
               "belljar validate src tests --exclude 'tests/data/'  # all programs below",
               "belljar validate - --stdin-filename a.py < a.py  # from an editor",
               "git ls-files -z '*.py' | belljar validate --files-from -  # files tracked by git",
               "belljar validate . --format json --output report.json  # for a pipeline",
               "belljar validate . --write-baseline known.json  # accept all current findings",
               "belljar validate . --baseline known.json  # report only new findings",
               "belljar validate . --needs  # the profile and packages to run it",
               "belljar validate . --isolated  # untrusted code"});
  return {parser, [options] { return Execute(*options); }};
}

}  // namespace belljar::cli::validate
