#include "python/engine.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "python/errors.h"

namespace belljar::python {

Canceller::Canceller() : process_(getpid()), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_) throw HostFailure{core::SystemError("create an event for cancelling a run")};
}

void Canceller::Cancel() const {
  if (getpid() == process_) eventfd_write(event_.get(), 1);
}

bool Canceller::is_cancelled() const {
  if (getpid() != process_) return false;
  pollfd cancelled{event_.get(), POLLIN, 0};
  return poll(&cancelled, 1, 0) > 0;
}

namespace {

thread_local int t_pending_calls = 0;

}  // namespace

Engine::Engine(Opened opened, Defaults defaults)
    : process_(getpid()), opened_(std::move(opened)), defaults_(std::move(defaults)) {}

bool Engine::is_of_this_process() const { return getpid() == process_; }

Engine::PendingCall::PendingCall(Engine& engine, const Canceller* cancellation)
    : engine_(engine), cancellation_(cancellation) {
  const std::lock_guard lock(engine_.mutex_);
  if (!cancellation_) {
    std::vector<std::unique_ptr<const Canceller>>& unused = engine_.cancellations_;
    if (unused.empty()) unused.push_back(std::make_unique<Canceller>());
    own_ = std::move(unused.back());
    unused.pop_back();
    cancellation_ = own_.get();
  }
  if (engine_.is_closing_) return;
  record_ = engine_.pending_calls_.insert(engine_.pending_calls_.end(), cancellation_);
  has_begun_ = true;
  ++t_pending_calls;
}

Engine::PendingCall::~PendingCall() {
  if (!has_begun_) return;
  --t_pending_calls;
  // In a child that was forked by a callback, the mutex may be held by a thread that does not
  // exist.
  if (!engine_.is_of_this_process()) return;
  const std::lock_guard lock(engine_.mutex_);
  engine_.pending_calls_.erase(record_);
  engine_.call_ended_.notify_all();
  if (own_ && !own_->is_cancelled()) engine_.cancellations_.push_back(std::move(own_));
}

core::Result<host::Outcome> Engine::Run(const host::Request& request, run::RunOptions options,
                                        const PendingCall& call) const {
  options.cancel_fd = call.cancellation().fd();
  core::Result<host::Outcome> outcome = opened_.sandbox->Run(request, options);
  if (!outcome || !outcome->container) return outcome;
  outcome->container->packages = container::packages::Names(opened_.packages.installed());
  return outcome;
}

core::Result<std::shared_ptr<sessions::Session>> Engine::OpenSession(
    const sessions::SessionOptions& session_options, run::RunOptions options,
    const PendingCall& call) {
  options.cancel_fd = call.cancellation().fd();
  core::Result<std::shared_ptr<sessions::Session>> session =
      opened_.sandbox->OpenSession(session_options, options);
  if (session) Add(*session);
  return session;
}

core::Result<sessions::Kernel> Engine::OpenKernel(const sessions::SessionOptions& session_options,
                                                  run::RunOptions options,
                                                  const PendingCall& call) {
  core::Result<std::shared_ptr<sessions::Session>> session =
      OpenSession(session_options, std::move(options), call);
  if (!session) return session.error();
  sessions::Kernel kernel = opened_.sandbox->AsKernel(std::move(*session));
  // This engine ends its sandbox only after the calls that use it.
  kernel.run = [this, run = std::move(kernel.run)](
                   sessions::Session& of, const host::Request& request,
                   const run::RunOptions& through,
                   sessions::Patience patience) -> core::Result<host::Outcome> {
    const PendingCall use(*this, nullptr);
    if (!use) return core::MakeError("use a session", kSandboxClosed);
    return run(of, request, through, patience);
  };
  return kernel;
}

void Engine::Add(const std::shared_ptr<sessions::Session>& session) {
  bool is_late = false;
  {
    const std::lock_guard lock(mutex_);
    is_late = is_closing_;
    std::erase_if(sessions_, [](const auto& each) { return each.expired(); });
    sessions_.push_back(session);
  }
  if (is_late) session->Close(kSandboxClosed);
}

core::Result<host::Outcome> Engine::RunCell(sessions::Session& session,
                                            const host::Request& request, run::RunOptions options,
                                            sessions::Patience patience,
                                            const PendingCall& call) const {
  options.cancel_fd = call.cancellation().fd();
  return opened_.sandbox->RunCell(session, request, options, patience);
}

core::Result<void> Engine::WaitForSpare(core::Deadline deadline) const {
  return opened_.sandbox->WaitForSpare(deadline);
}

core::Result<container::packages::Packages*> Engine::PackageSource() {
  const std::lock_guard lock(mutex_);
  if (!package_source_) {
    container::packages::PackagesOptions options;
    options.installation = opened_.installation;
    options.source = opened_.source;
    core::Result<std::unique_ptr<container::packages::Packages>> source =
        container::packages::Packages::Open(std::move(options));
    if (!source) return source.error();
    package_source_ = std::move(*source);
  }
  return package_source_.get();
}

outside::Backend::Counters Engine::counters() const {
  const std::lock_guard lock(mutex_);
  return opened_.sandbox ? opened_.sandbox->counters() : outside::Backend::Counters();
}

bool Engine::IsWithinRun() { return t_pending_calls > 0; }

bool Engine::Close(core::Deadline deadline) {
  std::unique_lock lock(mutex_);
  is_closing_ = true;
  const std::vector<std::weak_ptr<sessions::Session>> sessions = std::exchange(sessions_, {});
  lock.unlock();
  // Sessions first: cells that are killed with their session need no time to end.
  for (const std::weak_ptr<sessions::Session>& each : sessions) {
    if (const std::shared_ptr<sessions::Session> session = each.lock()) {
      session->Close(kSandboxClosed);
    }
  }
  lock.lock();
  for (const Canceller* const cancellation : pending_calls_) cancellation->Cancel();
  if (!call_ended_.wait_until(lock, deadline, [&] { return pending_calls_.empty(); })) return false;
  // If two threads close it, one ends the workers, which takes a while, and the other waits.
  std::unique_ptr<outside::Sandbox> sandbox = std::move(opened_.sandbox);
  if (!sandbox) return call_ended_.wait_until(lock, deadline, [&] { return is_closed_; });
  lock.unlock();
  sandbox.reset();
  lock.lock();
  is_closed_ = true;
  call_ended_.notify_all();
  return true;
}

}  // namespace belljar::python
