#include "engine/outside/sandbox.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/text.h"
#include "engine/core/wire.h"
#include "engine/host/json_reader.h"
#include "engine/host/limit_fields.h"
#include "engine/host/literals.h"
#include "engine/host/random.h"
#include "engine/outside/local_backend.h"
#include "engine/outside/own_programs.h"
#include "engine/outside/planned_backend.h"
#include "engine/profiles/languages.h"
#include "engine/sessions/mixed_session.h"
#include "engine/workspace/workspace.h"

namespace belljar::outside {
namespace {

// Checks the names of a request's variables and functions.
core::Result<void> CheckNames(const host::Request& request) {
  constexpr std::array kOfRunner = {
      host::kTakesVariables, host::kAsksInput,        host::kShows,
      host::kAwaitsCalls,    host::kAwaitsCallsUntil, host::kCancelsCall};
  std::vector<std::string_view> names;
  for (const std::string_view name : request.functions) {
    if (std::ranges::find(kOfRunner, name) != kOfRunner.end()) continue;
    names.push_back(name.starts_with(host::kBeginsCall) ? name.substr(1) : name);
  }
  for (const host::InputVariable& input : request.inputs) {
    names.push_back(input.name);
    if (std::holds_alternative<host::JsonFailure>(
            host::ReadJson(input.json, {.depth = core::kMaxCallDepth}))) {
      return core::MakeError("take input " + core::Quoted(input.name),
                             "its value is not JSON, or is nested too deeply");
    }
  }
  std::sort(names.begin(), names.end());
  for (const std::string_view name : names) {
    if (host::IsVariableName(name)) continue;
    return core::MakeError(
        "take input or function " + core::Quoted(name),
        "a name is an ASCII letter followed by ASCII letters, digits and underscores");
  }
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
    return core::MakeError("take inputs and functions", core::Quoted(*twice) + " occurs twice");
  }
  return {};
}

core::Result<void> CheckLimits(const core::Profile& profile, const core::Limits& limits) {
  core::Result<void> checked;
  host::ForEachField<core::Limits>([&](auto row) {
    const auto& requested = row.Of(limits);
    const auto& max = row.Of(profile.maximum_limits);
    // Counts are fixed by the profile.
    if (host::NumberField<std::remove_cvref_t<decltype(requested)>> || !checked || requested <= max)
      return;
    checked =
        core::MakeError("check limits", host::LimitTitle(row) + " " + host::LimitText(requested) +
                                            " exceeds the maximum of " + host::LimitText(max) +
                                            " of profile " + profile.name);
  });
  return checked;
}

}  // namespace

core::Result<void> CheckProgram(const core::Profile& profile, const host::Request& request) {
  if (!profile.program) return {};
  const std::string operation = "run " + profile.program->title;
  if (request.mode == host::Request::Mode::kValidate)
    return core::MakeError(operation, "only Python is validated");
  if (!request.functions.empty() || (!request.inputs.empty() && !profile.program->values))
    return core::MakeError(operation,
                           std::string(request.functions.empty() ? "inputs" : "functions") +
                               " are not for this language; use files, arguments, environment "
                               "variables and standard input");
  if (request.allowed_imports)
    return core::MakeError(operation, "only imports of Python can be restricted");
  const std::string own = profiles::SourceFileName(request.filename, *profile.program);
  if (std::ranges::any_of(request.files, [&](const host::InputFile& file) {
        return file.path == own && file.content != request.source;
      })) {
    return core::MakeError(operation, core::Quoted(own) +
                                          " is the name of the program itself; give the other "
                                          "file of that name another one");
  }
  if (core::Bytes{request.source.size()} > request.limits.source)
    return core::MakeError(
        operation, "the source is larger than the limit of " + request.limits.source.ToString() +
                       "; give data as files or standard input, or raise [limits.source] in a "
                       "language file of your own");
  return {};
}

namespace {

core::Result<void> Check(const core::Profile& profile, const host::Request& request,
                         const run::RunOptions& run) {
  if (core::Result<void> checked = CheckProgram(profile, request); !checked) return checked;
  if (core::Result<void> limited = CheckLimits(profile, request.limits); !limited) return limited;
  if (core::Result<void> named = CheckNames(request); !named) return named;
  if (core::Result<void> given = host::CheckArguments(request); !given) return given;
  if (core::Result<void> files = workspace::CheckFiles(request.files, profile); !files)
    return files;
  if (request.functions.empty() || run.call) return {};
  return core::MakeError("take functions", "there is no handler for their calls");
}

// The request that is run: as given or, if it is a program of another language with inputs,
// `written`, which has them in its source. Checked.
core::Result<const host::Request*> Prepare(const core::Profile& profile, const host::Request& given,
                                           const run::RunOptions& run, host::Request& written) {
  if (core::Result<void> checked = Check(profile, given, run); !checked) return checked.error();
  if (!profile.program || given.inputs.empty()) return &given;
  core::Result<std::string> source = host::Assignments(given.inputs, *profile.program->values);
  if (!source) return source.error();
  written = given;
  written.inputs.clear();
  written.source.insert(0, *source);
  core::Result<void> checked = CheckProgram(profile, written);
  return checked ? core::Result<const host::Request*>(&written) : checked.error();
}

void Finish(const SandboxOptions& options, host::Outcome& outcome) {
  outcome.execution_id = host::NewUuid();
  if (options.profile.program) outcome.language = options.profile.name;
  if (PolicyOf(options) == Policy::kOff) {
    outcome.limits.processes = std::max(outcome.limits.processes, core::kMaxThreads);
  }
}

core::Result<std::shared_ptr<const SandboxOptions>> WithInstallation(SandboxOptions options) {
  core::Result<installation::Installation> installation =
      installation::GivenOrFound(options.installation);
  if (!installation) return installation.error();
  options.installation = std::move(*installation);
  return std::make_shared<const SandboxOptions>(std::move(options));
}

PlannedBackend::Start StartWith(std::shared_ptr<const SandboxOptions> options) {
  return [options = std::move(options)](WorkerSource source, std::string_view program) {
    return LocalBackend::Start(*options, ZygoteFor(source, *options, program));
  };
}

// None if there is only one worker, or a workspace that a container has mounted for one.
PlannedBackend::Offers OffersOf(const SandboxOptions& options) {
  const core::Profile& profile = options.profile;
  if (options.single_run || options.has_workspace) return {};
  return {.early = options.early_runs && !profile.packages.empty(),
          .light = !profile.light_packages.empty() && !profile.egress &&
                   options.installation->Missing(profile).empty()};
}

}  // namespace

core::Result<std::unique_ptr<Sandbox>> Sandbox::Open(SandboxOptions given) {
  auto options = WithInstallation(std::move(given));
  if (!options) return options.error();
  PlannedBackend::Start start = StartWith(*options);
  core::Result<std::unique_ptr<Backend>> spares = start(WorkerSource::kSpare, {});
  if (!spares) return spares.error();
  auto backend = std::make_unique<PlannedBackend>(std::move(*spares), (*options)->profile,
                                                  OffersOf(**options), std::move(start));
  return std::unique_ptr<Sandbox>(new Sandbox(std::move(*options), std::move(backend), true));
}

std::unique_ptr<Sandbox> Sandbox::Over(SandboxOptions options, std::unique_ptr<Backend> backend) {
  return std::unique_ptr<Sandbox>(new Sandbox(
      std::make_shared<const SandboxOptions>(std::move(options)), std::move(backend), false));
}

Sandbox::Sandbox(std::shared_ptr<const SandboxOptions> options, std::unique_ptr<Backend> backend,
                 bool is_local)
    : is_local_(is_local), options_(std::move(options)), backend_(std::move(backend)) {}

Sandbox::~Sandbox() = default;

core::Result<host::Outcome> Sandbox::Run(const host::Request& given,
                                         const run::RunOptions& options) {
  host::Request written;
  const core::Result<const host::Request*> prepared = Prepare(profile(), given, options, written);
  if (!prepared) return prepared.error();
  const host::Request& request = **prepared;
  const RunProgram run = [this](const host::Request& each, const run::RunOptions& through) {
    return backend_->Run(each, through);
  };
  core::Result<host::Outcome> outcome =
      is_local_ ? RunWithOwnPrograms(*options_, request, options, run, run) : run(request, options);
  if (outcome) Finish(*options_, *outcome);
  return outcome;
}

core::Result<std::shared_ptr<sessions::Session>> Sandbox::OpenSession(
    const sessions::SessionOptions& options, const run::RunOptions& run) {
  core::Result<void> limited = CheckLimits(profile(), options.limits);
  if (!limited) return limited.error();
  if (!options.project.empty() && !is_local_)
    return core::MakeError("open a session", "in a container a session has no project");
  core::Result<std::shared_ptr<sessions::Session>> session = backend_->OpenSession(options, run);
  if (!session || !is_local_) return session;
  return sessions::MixedSession::Over(AsKernel(std::move(*session)));
}

sessions::Kernel Sandbox::AsKernel(std::shared_ptr<sessions::Session> session) {
  sessions::Kernel kernel{.language = profiles::LanguageOf(profile()),
                          .session = std::move(session),
                          .run =
                              [this](sessions::Session& of, const host::Request& request,
                                     const run::RunOptions& options, sessions::Patience patience) {
                                return RunCell(of, request, options, patience);
                              },
                          .reading = {},
                          .has_network = profile().egress.has_value()};
  if (!profile().program) {
    kernel.reading = [](std::string_view name) { return "[" + std::string(name) + "]"; };
  } else if (profile().program->values) {
    kernel.reading = [this](std::string_view name) {
      return host::Reading(name, *profile().program->values);
    };
  }
  return kernel;
}

core::Result<host::Outcome> Sandbox::RunCell(sessions::Session& session, const host::Request& given,
                                             const run::RunOptions& options,
                                             sessions::Patience patience) {
  // Another kernel of the session has a sandbox of its own.
  if (!given.language.empty() && given.language != profiles::LanguageOf(profile())) {
    return session.Run(given, options, patience);
  }
  host::Request written;
  const core::Result<const host::Request*> prepared = Prepare(profile(), given, options, written);
  if (!prepared) return prepared.error();
  const host::Request& request = **prepared;
  const RunProgram run_cell = [&](const host::Request& cell, const run::RunOptions& through) {
    return session.Run(cell, through, patience);
  };
  const RunProgram run = [this](const host::Request& each, const run::RunOptions& through) {
    return backend_->Run(each, through);
  };
  core::Result<host::Outcome> outcome =
      is_local_ ? RunWithOwnPrograms(*options_, request, options, run_cell, run)
                : run_cell(request, options);
  if (outcome) Finish(*options_, *outcome);
  return outcome;
}

core::Result<host::Outcome> RunOnce(SandboxOptions sandbox, const host::Request& given,
                                    const run::RunOptions& run, bool exactly_once) {
  auto options = WithInstallation(std::move(sandbox));
  if (!options) return options.error();
  const core::Profile& profile = (*options)->profile;
  host::Request written;
  const core::Result<const host::Request*> prepared = Prepare(profile, given, run, written);
  if (!prepared) return prepared.error();
  const host::Request& request = **prepared;
  const PlannedBackend::Start start = StartWith(*options);
  const RunProgram run_one = [&](const host::Request& each, const run::RunOptions& whole) {
    const StartPlan plan = PlanStart(each, {.whole = WorkerSource::kOwn,
                                            .own_named = !exactly_once && !profile.program,
                                            .has_network = profile.egress.has_value()});
    return CarryOut(plan, whole, [&](WorkerSource source, const run::RunOptions& through) {
      return RunInOwn(start, source, each, through);
    });
  };
  core::Result<host::Outcome> outcome =
      RunWithOwnPrograms(**options, request, run, run_one, run_one);
  if (outcome) Finish(**options, *outcome);
  return outcome;
}

}  // namespace belljar::outside
