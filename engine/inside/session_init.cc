#include "engine/inside/session_init.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/core/process.h"
#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/seal/seal.h"

namespace belljar::inside {
namespace {

constexpr int kInitFailed = 90;

int64_t Microseconds(const timeval& time) {
  return int64_t{time.tv_sec} * 1'000'000 + int64_t{time.tv_usec};
}

// Copies inherit the worker's exit signal, 0, hence __WALL.
core::InitReply Wait(int pidfd, int options) {
  siginfo_t info{};
  rusage usage{};
  long waited;
  do {
    waited = syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED | __WALL | options, &usage);
  } while (waited != 0 && errno == EINTR);
  core::InitReply reply;
  if (waited != 0) {
    reply.error_number = errno;
    return reply;
  }
  reply.code = info.si_code;
  reply.status = info.si_status;
  reply.user_time = Microseconds(usage.ru_utime);
  reply.system_time = Microseconds(usage.ru_stime);
  reply.max_rss = usage.ru_maxrss;
  return reply;
}

core::InitReply Carry(const core::InitOrder& order, int pidfd) {
  return Wait(pidfd, order.kind == core::InitOrder::kReap ? 0 : WNOHANG | WNOWAIT);
}

}  // namespace

void RunSessionInit(const WorkerStart& start, SpawnOrder order) {
  core::UniqueFd control = std::move(order.init_socket);
  // As for a worker: it must not outlive the host.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) _exit(kInitFailed);
  const pid_t worker = core::CloneProcess(clone_args{});
  if (worker == 0) {
    control.Reset();
    RunWorker(start, std::move(order));
  }
  if (worker < 0) _exit(kInitFailed);
  order = {};
  const seal::SealFailure failure =
      seal::SealSessionInit(start.plan, start.prepared, control.get());
  if (failure.step != seal::SealStep::kNone) _exit(kInitFailed + static_cast<int>(failure.step));
  // Sealed: this message also reveals its pid to the host, should the zygote die before it can.
  if (!core::SendMessage(control.get(), core::AsBytes(core::InitReply{}))) _exit(kInitFailed);
  for (;;) {
    core::Result<core::Message> message =
        core::ReceiveMessage(control.get(), sizeof(core::InitOrder));
    core::InitOrder asked;
    if (!message || message->bytes.size() != sizeof asked || message->descriptors.size() != 1)
      break;
    memcpy(&asked, message->bytes.data(), sizeof asked);
    if (asked.magic != core::InitOrder{}.magic) break;
    const core::InitReply reply = Carry(asked, message->descriptors[0].get());
    if (!core::SendMessage(control.get(), core::AsBytes(reply))) break;
  }
  _exit(0);
}

}  // namespace belljar::inside
