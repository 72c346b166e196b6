#include "engine/outside/spare_pool.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "engine/core/wire.h"
#include "engine/outside/observe.h"

namespace belljar {
namespace {

// So that the zygote always has the next one to do.
constexpr size_t kRequestsAhead = 3;
constexpr std::chrono::seconds kSpawnTimeout{10};
constexpr std::chrono::seconds kSettleTimeout{2};
constexpr std::chrono::seconds kHatchTimeout{20};
constexpr int kFailuresToGiveUp = 3;
constexpr std::chrono::milliseconds kCancelInterval{50};
constexpr std::chrono::milliseconds kFirstBackoff{50};
constexpr std::chrono::milliseconds kLongestBackoff{5000};

constexpr char kOnlyOne[] = "this sandbox was for a single run, and has had it: open another one";

void WakeUp(const UniqueFd& event) {
  const uint64_t one = 1;
  // Fails only when the counter is full, and then the keeper is awake anyway.
  (void)!write(event.get(), &one, sizeof one);
}

// A zygote that dies between a clone and its answer takes the pid of our child with it. The worker
// tells by being sealed: the kernel says who sent that. Where there is none, the other end of its
// socket has gone with the zygote.
void ReapUntold(int socket, Parent* parent) {
  if (!WaitReadable(socket, Clock::now() + kSettleTimeout)) return;
  const Result<pid_t> worker = SenderOfNext(socket);
  if (!worker || *worker <= 0) return;
  KillAndReap(*worker, parent);
}

bool IsAlive(const Worker& worker) {
  pollfd ended{worker.process.ended_fd(), POLLIN, 0};
  return poll(&ended, 1, 0) == 0;
}

}  // namespace

SparePool::SparePool(SparePoolOptions options)
    : options_(std::move(options)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  keeper_ = std::thread([this] { Keep(); });
}

SparePool::~SparePool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  WakeUp(wake_);
  keeper_.join();
  // Takers that have been told of the closing are still in here.
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return takers_ == 0; });
}

Result<Worker> SparePool::Take(Deadline deadline, const RunOptions& run) {
  std::unique_lock lock(mutex_);
  ++takers_;
  Result<Worker> taken = TakeLocked(lock, deadline, run);
  // The destructor waits for the last one to have let go.
  if (--takers_ == 0 && closing_) changed_.notify_all();
  return taken;
}

// Until there is a worker or none to be had; false: not by the deadline, or nobody wants it any
// more. Where that may happen it looks now and then.
bool SparePool::AwaitSpare(std::unique_lock<std::mutex>& lock, Deadline deadline,
                           const RunOptions& run) {
  const auto decided = [&] { return !ready_.empty() || closing_ || failure_ || HasHadItsRun(); };
  const bool looks = run.cancel_fd >= 0 || run.interrupted;
  while (!decided()) {
    const Deadline now = Clock::now();
    if (now >= deadline) return false;
    changed_.wait_until(lock, looks ? std::min(deadline, now + kCancelInterval) : deadline,
                        decided);
    if (!looks || decided()) continue;
    lock.unlock();  // what is asked may take locks of its own
    const bool cancelled = IsCancelled(run);
    lock.lock();
    if (cancelled) return false;
  }
  return true;
}

Result<Worker> SparePool::TakeLocked(std::unique_lock<std::mutex>& lock, Deadline deadline,
                                     const RunOptions& run) {
  // More takers than spares: the keeper makes more.
  if (ready_.empty()) WakeUp(wake_);
  while (AwaitSpare(lock, deadline, run) && !ready_.empty()) {
    Worker worker = std::move(ready_.front());
    ready_.pop_front();
    // The others wait for nothing any more.
    if (options_.zygote.single_run) changed_.notify_all();
    // While there are spares left, refilling waits for the run's end (Retire): a clone beside a run
    // is one more for the same processors, and the run is what somebody waits for.
    if (ready_.size() <= options_.spares / 2) WakeUp(wake_);
    if (IsAlive(worker)) return worker;
    // Killed while it waited, by an operator or for the machine's memory: no caller's concern.
    retired_.push_back(std::move(worker));
  }
  if (closing_) return MakeError("take a worker", "the sandbox is closing");
  if (HasHadItsRun()) return MakeError("take a worker", kOnlyOne);
  if (failure_) return *failure_;
  if (Clock::now() < deadline) return SystemErrorOf(ECANCELED, "take a worker", "cancelled");
  return SystemErrorOf(ETIMEDOUT, "take a worker", "none became free in time");
}

Result<void> SparePool::WaitForSpare(Deadline deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline,
                      [&] { return !ready_.empty() || failure_ || HasHadItsRun(); });
  if (!ready_.empty()) {
    changed_.notify_one();  // this wake-up may have been meant for a taker
    return {};
  }
  if (HasHadItsRun()) return MakeError("wait for a worker", kOnlyOne);
  if (failure_) return *failure_;
  return SystemErrorOf(ETIMEDOUT, "wait for a worker", "none became ready in time");
}

void SparePool::Retire(Worker worker) {
  worker.process.Kill();
  {
    const std::lock_guard lock(mutex_);
    retired_.push_back(std::move(worker));
  }
  WakeUp(wake_);
}

void SparePool::AdoptRetired() {
  std::vector<Worker> retired;
  {
    const std::lock_guard lock(mutex_);
    retired.swap(retired_);
  }
  for (Worker& worker : retired) {
    // One that ended by itself has been reaped by its run.
    if (worker.process) dying_.push_back(std::move(worker));
  }
}

Backend::Counters SparePool::counters() const {
  const std::lock_guard lock(mutex_);
  Backend::Counters counters = counters_;
  counters.waiting = ready_.size();
  return counters;
}

void SparePool::Keep() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) break;
    }
    LaunchZygoteWhenDue();
    RequestMissing();
    AdoptRetired();
    PollOnce();
  }
  starting_.reset();
  SettleRequests();
  DropZygote();
  embryos_.clear();
  dying_.clear();
  const std::lock_guard lock(mutex_);
  ready_.clear();
  retired_.clear();
}

// Of `mutex_`.
bool SparePool::HasHadItsRun() const {
  return options_.zygote.single_run && hatched_ && ready_.empty();
}

// A single run's zygote is launched until there has been a worker, and never beside one.
bool SparePool::IsComplete() const {
  if (!options_.zygote.single_run) return false;
  const std::lock_guard lock(mutex_);
  return hatched_ || !embryos_.empty();
}

void SparePool::LaunchZygoteWhenDue() {
  if (IsComplete()) return;
  // Its workers are gone with the parent, and new ones would be another's.
  if (parent_ && !parent_->IsAlive()) {
    starting_.reset();
    DropZygote();
  }
  if (starting_ || Clock::now() < next_attempt_) return;
  const bool due =
      spawned_by_zygote_ >= options_.rotate_after_workers || Clock::now() >= rotate_at_;
  if (zygote_ && !due) return;
  if (Result<void> started = StartParent(); !started) return GiveUp(started.error());
  Result<ZygoteProcess> launched =
      ZygoteProcess::Launch(options_.zygote, options_.cgroup ? options_.cgroup->fd() : -1, parent_);
  if (!launched) return GiveUp(launched.error());
  starting_.emplace(std::move(*launched));
}

// Again where somebody has killed it.
Result<void> SparePool::StartParent() {
  if (!options_.hides_children || (parent_ && parent_->IsAlive())) return {};
  Result<std::shared_ptr<Parent>> parent = Parent::Start();
  if (!parent) return parent.error();
  parent_ = std::move(*parent);
  return {};
}

void SparePool::FinishZygoteStart() {
  Result<void> started = starting_->FinishStart();
  if (!started) {
    starting_.reset();
    return GiveUp(started.error());
  }
  // An old zygote goes here, once it has answered; its workers are our children and stay.
  SettleRequests();
  DropZygote();
  zygote_ = std::move(starting_);
  starting_.reset();
  spawned_by_zygote_ = 0;
  rotate_at_ = Clock::now() + options_.rotate_after;
  const std::lock_guard lock(mutex_);
  ++counters_.zygotes_started;
  counters_.zygote_pid = zygote_->pid();
}

void SparePool::BackOff() {
  backoff_ = std::clamp(backoff_ * 2, kFirstBackoff, kLongestBackoff);
  next_attempt_ = Clock::now() + backoff_;
}

void SparePool::GiveUp(Error error) {
  BackOff();
  {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(error);
  }
  changed_.notify_all();
}

void SparePool::WorkerFailed(Error error) {
  // One worker lost (killed from outside, a moment without descriptors) is nobody's concern.
  if (++workers_failed_in_a_row_ >= kFailuresToGiveUp) return GiveUp(std::move(error));
  BackOff();
}

size_t SparePool::Missing() const {
  const std::lock_guard lock(mutex_);
  const size_t wanted = options_.spares + takers_;
  const size_t have = ready_.size() + embryos_.size() + requested_.size();
  return wanted > have ? wanted - have : 0;
}

void SparePool::RequestMissing() {
  if (!zygote_ || Clock::now() < next_attempt_) return;
  if (options_.zygote.single_run) {
    if (Result<void> become = BecomeOnly(); !become) WorkerFailed(become.error());
    return;
  }
  while (requested_.size() < kRequestsAhead && Missing() > 0) {
    if (Result<void> requested = RequestOne(); !requested) {
      return WorkerFailed(requested.error());
    }
  }
}

// All that a worker is asked for with; `socket` is to be its end.
Result<SparePool::Embryo> SparePool::PrepareEmbryo(UniqueFd& socket) const {
  auto pair = CreateSocketPair(SOCK_STREAM);
  if (!pair) return pair.error();
  if (Result<void> noted = NoteSenders(pair->first.get()); !noted) return noted.error();
  Result<CaptureReader> capture = CaptureReader::Create(options_.zygote.layout);
  if (!capture) return capture.error();
  socket = std::move(pair->second);
  return Embryo{{.capture = std::move(*capture), .socket = std::move(pair->first)}, {}};
}

Result<void> SparePool::RequestOne() {
  UniqueFd socket;
  Result<Embryo> embryo = PrepareEmbryo(socket);
  if (!embryo) return embryo.error();
  CaptureReader& capture = embryo->worker.capture;
  // A zygote that is gone shows at the next poll, after the answers that it left.
  Result<void> sent = zygote_->RequestWorker(socket.get(), capture.memory_fd());
  if (!sent) return sent;
  capture.CloseMemory();
  embryo->deadline = Clock::now() + kSpawnTimeout;
  requested_.push_back(std::move(*embryo));
  return {};
}

// The zygote of a single run turns into its worker. Whatever goes wrong, it is a zygote no more.
Result<void> SparePool::BecomeOnly() {
  ZygoteProcess zygote = std::move(*zygote_);
  zygote_.reset();
  UniqueFd socket;
  Result<Embryo> embryo = PrepareEmbryo(socket);
  if (!embryo) return embryo.error();
  CaptureReader& capture = embryo->worker.capture;
  Result<Process> process = zygote.BecomeWorker(socket.get(), capture.memory_fd());
  if (!process) return process.error();
  capture.CloseMemory();
  embryo->worker.process = std::move(*process);
  embryo->deadline = Clock::now() + kHatchTimeout;
  embryos_.push_back(std::move(*embryo));
  const std::lock_guard lock(mutex_);
  ++counters_.workers_spawned;
  counters_.zygote_pid = -1;
  return {};
}

void SparePool::ReceiveRequested() {
  Result<Process> process = zygote_->ReceiveWorker();
  if (!process) {
    // A clone that the kernel refused leaves the zygote as it was; anything else is its death.
    if (process.error().operation == kCloneRefused && !requested_.empty()) {
      requested_.pop_front();
    } else {
      DropZygote();
    }
    return WorkerFailed(process.error());
  }
  if (requested_.empty()) return DropZygote();  // an answer to nothing: not ours any more
  Embryo embryo = std::move(requested_.front());
  requested_.pop_front();
  embryo.worker.process = std::move(*process);
  embryo.deadline = Clock::now() + kHatchTimeout;
  embryos_.push_back(std::move(embryo));
  ++spawned_by_zygote_;
  const std::lock_guard lock(mutex_);
  ++counters_.workers_spawned;
}

// A clone whose answer nobody reads would be a child of ours that nobody reaps.
void SparePool::SettleRequests() {
  const Deadline deadline = Clock::now() + kSettleTimeout;
  while (zygote_ && !requested_.empty() && WaitReadable(zygote_->control_fd(), deadline)) {
    ReceiveRequested();
  }
}

void SparePool::DropZygote() {
  if (!zygote_) return;
  zygote_->Kill();
  // What it had answered before is still in the socket; the workers end here with their owners. The
  // socket's end may be late: a worker holds the zygote's side of it until it is sealed.
  while (WaitReadable(zygote_->control_fd(), Clock::now() + kSettleTimeout)) {
    Result<Process> answered = zygote_->ReceiveWorker();
    if (!answered && answered.error().operation != kCloneRefused) break;
    if (!requested_.empty()) requested_.pop_front();
  }
  zygote_.reset();
  // It makes one after the other, so no later one can have been begun.
  if (!requested_.empty()) ReapUntold(requested_.front().worker.socket.get(), parent_.get());
  requested_.clear();
}

int SparePool::PollTimeoutNow() const {
  Deadline next = Clock::now() + std::chrono::minutes(1);
  if (zygote_) next = std::min(next, rotate_at_);
  for (const Embryo& embryo : embryos_) next = std::min(next, embryo.deadline);
  if (!requested_.empty()) next = std::min(next, requested_.front().deadline);
  if (next_attempt_ > Clock::now()) {
    next = std::min(next, next_attempt_);
  } else if (zygote_ && requested_.size() < kRequestsAhead && Missing() > 0) {
    return 0;
  }
  return PollTimeout(next);
}

void SparePool::PollOnce() {
  std::vector<pollfd> polled;
  polled.push_back({wake_.get(), POLLIN, 0});
  polled.push_back({starting_ ? starting_->control_fd() : -1, POLLIN, 0});
  polled.push_back({zygote_ ? zygote_->control_fd() : -1, POLLIN, 0});
  const size_t first_embryo = polled.size();
  for (const Embryo& embryo : embryos_) polled.push_back({embryo.worker.socket.get(), POLLIN, 0});
  const size_t first_dying = polled.size();
  for (const Worker& worker : dying_) polled.push_back({worker.process.ended_fd(), POLLIN, 0});

  if (poll(polled.data(), polled.size(), PollTimeoutNow()) < 0) return;  // EINTR
  if (polled[0].revents) {
    uint64_t count;
    (void)!read(wake_.get(), &count, sizeof count);
  }
  ReapDead(polled, first_dying);
  HatchReady(polled, first_embryo);
  if (polled[2].revents) ReceiveRequested();
  if (!requested_.empty() && Clock::now() >= requested_.front().deadline) {
    DropZygote();
    WorkerFailed(SystemErrorOf(ETIMEDOUT, "spawn worker", "the zygote does not answer"));
  }
  if (polled[1].revents) FinishZygoteStart();
}

// The kernel takes its time over a dead process; meanwhile there are others to clone.
void SparePool::ReapDead(const std::vector<pollfd>& polled, size_t first) {
  size_t index = first;
  dying_.remove_if([&](const Worker&) { return polled[index++].revents != 0; });
}

void SparePool::HatchReady(const std::vector<pollfd>& polled, size_t first) {
  size_t index = first;
  for (auto embryo = embryos_.begin(); embryo != embryos_.end(); ++index) {
    const bool signalled = polled[index].revents != 0;
    if (!signalled && Clock::now() < embryo->deadline) {
      ++embryo;
      continue;
    }
    Result<void> hatched = signalled
                               ? Hatch(embryo->worker)
                               : SystemErrorOf(ETIMEDOUT, "seal a worker", "it did not answer");
    if (hatched) {
      backoff_ = std::chrono::milliseconds(0);
      workers_failed_in_a_row_ = 0;
      const std::lock_guard lock(mutex_);
      failure_.reset();
      hatched_ = true;
      ready_.push_back(std::move(embryo->worker));
      changed_.notify_one();
    } else {
      WorkerFailed(hatched.error());
    }
    embryo = embryos_.erase(embryo);
  }
}

LayerState SparePool::CgroupLayer(pid_t pid) const {
  if (!options_.cgroup) return {"cgroup", false, options_.no_cgroup};
  const bool held = IsInCgroup(pid, options_.cgroup->name());
  return {"cgroup", held,
          held ? "memory and processes of all workers together" : "not in its leaf"};
}

Result<void> SparePool::TakeFurnishings(std::vector<UniqueFd> descriptors, Worker& worker) const {
  const SealPlan& plan = options_.zygote.plan;
  std::vector<UniqueFd*> places;
  if (plan.workspace) places.push_back(&worker.furnishings.workspace);
  if (plan.door && plan.namespaces) places.push_back(&worker.furnishings.door);
  if (descriptors.size() != places.size()) {
    return MakeError("seal a worker", "it was furnished with something else than was asked for");
  }
  for (size_t i = 0; i < places.size(); ++i) *places[i] = std::move(descriptors[i]);
  return {};
}

Result<void> SparePool::Hatch(Worker& worker) {
  WorkerSignal signal;
  Result<Message> message = ReceiveMessage(worker.socket.get(), sizeof signal);
  if (!message || message->bytes.size() != sizeof signal) {
    return MakeError("seal a worker", "it died while it was being sealed");
  }
  memcpy(&signal, message->bytes.data(), sizeof signal);
  if (signal.kind == WorkerSignal::kFailed) {
    return SystemErrorOf(static_cast<int>(signal.value), "seal a worker",
                         SealStepName(static_cast<SealStep>(signal.step)));
  }
  if (signal.kind != WorkerSignal::kSealed) return MakeError("seal a worker", "unknown signal");
  if (Result<void> taken = TakeFurnishings(std::move(message->descriptors), worker); !taken) {
    return taken;
  }
  if (!own_seal_) {
    Result<OwnSeal> own = OwnSeal::Read();
    if (!own) return own.error();
    own_seal_ = *own;
  }
  Result<UniqueFd> status = OpenStatus(worker.process.pid());
  if (!status) return status.error();
  worker.status_fd = std::move(*status);
  Result<std::vector<LayerState>> layers =
      ObserveSeal(*own_seal_, worker.process.pid(), worker.status_fd.get(), signal.value,
                  options_.zygote.plan.zygote_filter.empty() ? 1 : 2, worker.process.parent_pid());
  if (!layers) return MakeError("seal a worker", layers.error().ToString());
  // In the order of the seal: before seccomp, which is last.
  layers->insert(layers->end() - 1, CgroupLayer(worker.process.pid()));
  for (const LayerState& layer : *layers) {
    const auto& required = options_.required_layers;
    if (!layer.held && std::find(required.begin(), required.end(), layer.name) != required.end()) {
      return MakeError("seal a worker", "layer " + layer.name + " does not hold: " + layer.detail);
    }
  }
  worker.layers = std::move(*layers);
  if (options_.zygote.single_run) worker.cpu_before = worker.process.CpuTime();
  return {};
}

}  // namespace belljar
