#include "engine/outside/local_backend.h"

#include <cerrno>
#include <memory>
#include <utility>

#include "engine/outside/pool_options.h"
#include "engine/profiles/languages.h"
#include "engine/run/execution.h"
#include "engine/sessions/command_worker.h"
#include "engine/sessions/kept_session.h"
#include "engine/sessions/kept_worker.h"

namespace belljar::outside {
namespace {

constexpr char kOpen[] = "open a session";

// A program's source is the file that its interpreter is given.
host::Request WithSourceAsFile(host::Request request, const core::ProgramRule& program) {
  request.filename = profiles::SourceFileName(request.filename, program);
  std::erase_if(request.files,
                [&](const host::InputFile& file) { return file.path == request.filename; });
  request.files.push_back({request.filename, std::exchange(request.source, {})});
  return request;
}

sessions::NoCopies NoCopiesOf(const core::ProgramRule& program) {
  return {.where = "in " + program.title, .remedy = "those of Python have them", .ends = false};
}

sessions::NoCopies NoCopiesWithout(const seal::SealPlan& plan) {
  const char* const missing = plan.without_namespaces ? "namespaces"
                              : plan.without_rlimits  ? "resource limits"
                                                      : "the system call filter";
  return {.where = std::string("without ") + missing,
          .remedy = "\"belljar doctor\" shows what this machine lacks"};
}

}  // namespace

core::Result<std::unique_ptr<egress::EgressService>> StartEgressService(
    const SandboxOptions& options) {
  if (!options.profile.egress || options.egress_handler)
    return std::unique_ptr<egress::EgressService>();
  core::Result<egress::EgressRules> rules = egress::EgressRules::Make(options.network);
  if (!rules) return rules.error();
  return egress::EgressService::Start(std::move(*rules));
}

core::Result<std::unique_ptr<Backend>> LocalBackend::Start(const SandboxOptions& options,
                                                           workers::ZygoteKind kind) {
  core::Result<pool::SparePoolOptions> pool = PoolOptionsFor(options, std::move(kind));
  if (!pool) return pool.error();
  core::Result<std::unique_ptr<egress::EgressService>> egress_service = StartEgressService(options);
  if (!egress_service) return egress_service.error();
  core::Result<std::unique_ptr<pool::SparePool>> started = pool::SparePool::Start(std::move(*pool));
  if (!started) return started.error();
  return std::unique_ptr<Backend>(std::make_unique<LocalBackend>(
      std::move(*started), ModeName(options.isolation), PolicyName(PolicyOf(options)),
      std::move(*egress_service), options.egress_handler));
}

LocalBackend::LocalBackend(std::unique_ptr<pool::SparePool> pool, std::string mode,
                           std::string policy,
                           std::unique_ptr<egress::EgressService> egress_service,
                           EgressHandler egress_handler)
    : mode_(std::move(mode)),
      policy_(std::move(policy)),
      egress_service_(std::move(egress_service)),
      egress_handler_(std::move(egress_handler)),
      pool_(std::move(pool)) {}

LocalBackend::~LocalBackend() { opened_->CloseAll(); }

core::Result<std::shared_ptr<const sessions::SessionHost>> LocalBackend::HostSessions() {
  const std::lock_guard lock(mutex_);
  if (session_host_) return session_host_;
  core::Result<std::unique_ptr<waiting::BackgroundTasks>> background =
      waiting::BackgroundTasks::Start("open a session");
  if (!background) return background.error();
  background_ = std::move(*background);
  const workers::ZygoteOptions& zygote = pool_->options().zygote;
  auto host = std::make_shared<sessions::SessionHost>();
  host->layout = zygote.layout;
  host->ceiling = zygote.plan.ceiling;
  host->threads = zygote.plan.ceiling.processes;
  host->mode = mode_;
  host->policy = policy_;
  if (const auto& rule = zygote.plan.workspace) host->workspace = {rule->size, rule->inodes};
  host->egress = egress_service_.get();
  host->observe = [pool = pool_.get()](workers::Worker& worker) { return pool->Observe(worker); };
  host->opened = [opened = opened_](const std::shared_ptr<sessions::Session>& session) {
    opened->Add(session);
  };
  host->later = [opened = opened_, tasks = background_.get()](std::function<void()> task) {
    if (const auto use = opened->BeginUse()) tasks->Add(std::move(task));
  };
  host->at = [opened = opened_, tasks = background_.get()](core::Deadline due,
                                                           std::function<void()> task) {
    if (const auto use = opened->BeginUse()) tasks->AddAt(due, std::move(task));
  };
  session_host_ = std::move(host);
  return session_host_;
}

core::Result<std::shared_ptr<sessions::Session>> LocalBackend::OpenSession(
    const sessions::SessionOptions& options, const run::RunOptions& run) {
  const workers::ZygoteOptions& zygote = pool_->options().zygote;
  if (zygote.program && !zygote.program->has_sessions()) {
    return core::MakeError(kOpen, zygote.program->title + " programs run one at a time");
  }
  // What an interpreter has started is stopped between cells as a whole.
  if (zygote.program && (zygote.plan.without_namespaces || pool_->options().owns_pid_namespace)) {
    return core::MakeError(kOpen,
                           "in a container, and without namespaces, sessions are for Python only");
  }
  if (!options.project.empty() && !(zygote.program && zygote.program->commands)) {
    return core::MakeError(kOpen, "a project is for commands: choose the language \"shell\"");
  }
  if (egress_handler_) return core::MakeError(kOpen, "not supported with a passed-on egress proxy");
  // Layers needed to limit the copies of a session.
  const bool can_copy = !zygote.plan.without_namespaces && !zygote.plan.without_rlimits &&
                        !zygote.plan.without_seccomp;
  if (zygote.kind.single_run || !can_copy || zygote.program) return OpenKept(options, run);
  core::Result<std::shared_ptr<const sessions::SessionHost>> host = HostSessions();
  if (!host) return host.error();
  core::Result<workers::Worker> worker =
      pool_->Take(core::Clock::now() + run.queue_timeout, run, workers::WorkerUse::kSession);
  if (!worker) return worker.error();
  return sessions::BranchingSession::Open(*host, std::move(*worker), options);
}

core::Result<std::shared_ptr<sessions::Session>> LocalBackend::OpenCommands(
    const sessions::SessionOptions& options, const run::RunOptions& run,
    const std::shared_ptr<const sessions::OpenedSessions::Use>& use) {
  const workers::ZygoteOptions& zygote = pool_->options().zygote;
  const core::WorkspaceRule& rule = *zygote.plan.workspace;
  std::shared_ptr<projects::Project> project;
  if (!options.project.empty()) {
    core::Result<std::shared_ptr<projects::Project>> opened =
        projects::Project::Open(options.project, rule);
    if (!opened) return opened.error();
    project = std::move(*opened);
  }
  // Also those of branches: the pool is there while one of its sessions is.
  const auto open =
      [pool = pool_.get(), use, limits = options.limits](
          const std::shared_ptr<projects::Project>& over,
          const run::RunOptions& taking) -> core::Result<std::unique_ptr<commands::CommandRunner>> {
    const core::Deadline deadline = core::Clock::now() + taking.queue_timeout;
    core::Result<workers::Worker> worker =
        over ? pool->TakeWith(over->TakeMount(), deadline, taking) : pool->Take(deadline, taking);
    if (!worker) return worker.error();
    const workers::ZygoteOptions& from = pool->options().zygote;
    return commands::CommandRunner::Begin(
        std::move(*worker),
        {.limits = limits,
         .most = from.plan.ceiling,
         .environment = from.program->environment,
         .retire = [pool, use](workers::Worker spent) { pool->Retire(std::move(spent)); }});
  };
  core::Result<std::unique_ptr<sessions::LiveInterpreter>> worker = sessions::CommandWorker::Open(
      open, workspace::SnapshotBounds{rule.size, rule.inodes}, std::move(project), run);
  if (!worker) return worker.error();
  sessions::NoCopies no_copies = NoCopiesOf(*zygote.program);
  no_copies.opened = [opened = opened_](const std::shared_ptr<sessions::Session>& branch) {
    opened->Add(branch);
  };
  core::Result<std::shared_ptr<sessions::Session>> session =
      sessions::KeptSession::Open(std::move(*worker), std::move(no_copies), options);
  if (session) opened_->Add(*session);
  return session;
}

core::Result<std::shared_ptr<sessions::Session>> LocalBackend::OpenKept(
    const sessions::SessionOptions& options, const run::RunOptions& run) {
  if (egress_service_ && !pool_->options().zygote.program) {
    return core::MakeError(kOpen,
                           "without namespaces, resource limits and the system call filter "
                           "a session has no network");
  }
  // Waits until its Python has been returned.
  std::optional<sessions::OpenedSessions::Use> use = opened_->BeginUse();
  if (!use) return core::MakeError(kOpen, "the sandbox is closing");
  const auto kept_use = std::make_shared<const sessions::OpenedSessions::Use>(std::move(*use));
  const workers::ZygoteOptions& zygote = pool_->options().zygote;
  const seal::SealPlan& plan = zygote.plan;
  if (zygote.program && zygote.program->commands) return OpenCommands(options, run, kept_use);
  core::Result<workers::Worker> worker = pool_->Take(core::Clock::now() + run.queue_timeout, run);
  if (!worker) return worker.error();
  sessions::KeptWorkerTerms terms{.mode = mode_,
                                  .policy = policy_,
                                  .limits = options.limits,
                                  .workspace = {},
                                  .retire = [pool = pool_.get(), kept_use](workers::Worker spent) {
                                    pool->Retire(std::move(spent));
                                  }};
  if (const auto& rule = plan.workspace) terms.workspace = {rule->size, rule->inodes};
  terms.egress = egress_service_.get();
  if (zygote.program) {
    terms.title = zygote.program->title;
    terms.renew = [pool = pool_.get(), kept_use, wait = run.queue_timeout] {
      return pool->Take(core::Clock::now() + wait, {});
    };
  }
  core::Result<std::unique_ptr<sessions::LiveInterpreter>> interpreter =
      sessions::KeptWorker::Begin(std::move(*worker), std::move(terms));
  if (!interpreter) return interpreter.error();
  core::Result<std::shared_ptr<sessions::Session>> session = sessions::KeptSession::Open(
      std::move(*interpreter), zygote.program ? NoCopiesOf(*zygote.program) : NoCopiesWithout(plan),
      options);
  if (session) opened_->Add(*session);
  return session;
}

core::Result<host::Outcome> LocalBackend::Run(const host::Request& request,
                                              const run::RunOptions& options) {
  std::optional<egress::AllowList> narrower;
  if (!egress_handler_) {  // otherwise the host that serves it has checked the request
    core::Result<std::optional<egress::AllowList>> judged =
        egress::Narrower(egress_service_.get(), request);
    if (!judged) return judged.error();
    narrower = std::move(*judged);
  }
  core::Result<workers::Worker> worker =
      pool_->Take(core::Clock::now() + options.queue_timeout, options);
  if (!worker) {
    if (worker.error().error_number == ECANCELED)
      return run::CancelledBefore(request, mode_, policy_);
    return worker.error();
  }
  const bool runs = request.mode == host::Request::Mode::kRun;
  if (egress_handler_ && runs) {
    core::Result<void> kept = egress_handler_(std::move(worker->resources.egress));
    if (!kept) {
      pool_->Retire(std::move(*worker));
      return kept.error();
    }
  }
  const std::optional<core::ProgramRule>& program = pool_->options().zygote.program;
  std::optional<host::Request> of_program;
  if (program) of_program = WithSourceAsFile(request, *program);
  run::Execution execution(std::move(*worker), of_program ? *of_program : request, options,
                           policy_);
  if (egress_service_ && runs) {
    execution.ServeEgress(*egress_service_, execution.TakeListener(), std::move(narrower));
  }
  core::Result<host::Outcome> outcome = execution.Run();
  if (options.deferred) {
    auto spent = std::make_shared<workers::Worker>(execution.TakeWorker());
    options.deferred->Add([this, spent] { pool_->Retire(std::move(*spent)); });
  } else {
    pool_->Retire(execution.TakeWorker());
  }
  if (outcome) {
    outcome->isolation.mode = mode_;
    outcome->isolation.policy = policy_;
  }
  return outcome;
}

}  // namespace belljar::outside
