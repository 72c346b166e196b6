#include "engine/inside/session_worker.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/core/fd.h"
#include "engine/core/mapping.h"
#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/inside/capture.h"
#include "engine/inside/host_channel.h"
#include "engine/inside/hot_pages.h"
#include "engine/inside/interpreter.h"
#include "engine/seal/rlimits.h"
#include "engine/seal/seccomp.h"

namespace belljar::inside {
namespace {

constexpr int kWakeFailed = 89;

struct Order {
  core::SessionOrder order;
  core::UniqueFd descriptor;
};

// Exits if the host is gone.
Order ReceiveOrder(int socket) {
  core::Result<core::Message> message = core::ReceiveMessage(socket, sizeof(core::SessionOrder));
  Order received;
  if (!message || message->bytes.size() != sizeof received.order) _exit(kUnused);
  memcpy(&received.order, message->bytes.data(), sizeof received.order);
  if (received.order.magic != core::SessionOrder{}.magic) _exit(kUnused);
  if (!message->descriptors.empty()) received.descriptor = std::move(message->descriptors[0]);
  return received;
}

std::vector<core::PageRange> ReceiveRanges(int socket, size_t count) {
  std::vector<core::PageRange> ranges(std::min(count, core::kMaxHotRanges));
  if (!core::ReceiveExactly(socket, ranges.data(), ranges.size() * sizeof ranges[0]))
    _exit(kUnused);
  return ranges;
}

// Gives `socket` its number: no filter allows dup2 without a workspace.
void Replace(int number, core::UniqueFd socket) {
  close(number);
  if (fcntl(socket.get(), F_DUPFD, number) != number) _exit(kUnused);
}

// Returns twice: returns true in the copy, after it has told the host. The original runs
// `afterwards` before it tells the host, which then stops it.
template <typename Afterwards>
bool CopySelf(int socket, core::UniqueFd copys_socket, Afterwards afterwards) {
  const long pid = syscall(SYS_clone, seal::kCopyFlags, 0, 0, 0, 0);
  const int error_number = pid < 0 ? errno : 0;
  if (pid != 0) {
    copys_socket.Reset();
    afterwards();
  } else {
    Replace(socket, std::move(copys_socket));
  }
  Signal(socket, {core::WorkerSignal::kCopied, 0, static_cast<uint32_t>(error_number)});
  return pid == 0;
}

void Wake(int socket, core::CaptureLayout layout, core::UniqueFd memory, bool reseeds) {
  ReleaseCapture();
  core::Result<core::Mapping> region = core::Mapping::Map(memory.get(), layout.size());
  if (!region) _exit(kWakeFailed);
  SetCapture(std::move(*region), layout);
  memory.Reset();
  if (!AfterCopyInWorker(reseeds)) _exit(kWakeFailed);
  Signal(socket, {core::WorkerSignal::kAwake, 0, 0});
}

// Returns when this process, or a copy of it, has been woken.
void Wait(int socket, core::CaptureLayout layout) {
  for (;;) {
    Order received = ReceiveOrder(socket);
    switch (received.order.kind) {
      case core::SessionOrder::kCopy:
        (void)CopySelf(socket, std::move(received.descriptor), [] {});
        break;
      case core::SessionOrder::kWake:
        return Wake(socket, layout, std::move(received.descriptor), received.order.reseeds != 0);
      default: _exit(kUnused);
    }
  }
}

// The process's offset in each open file. Copies share offsets (open(2): an open file description),
// so each has to restore its own before it continues.
class FilePositions {
 public:
  void Save() {
    rlimit limit{};
    const bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
    const auto count = static_cast<int>(known ? std::min<rlim_t>(limit.rlim_cur, kMax) : kMax);
    positions_.fill(-1);
    // Others, such as sockets, have none (ESPIPE).
    for (int fd = STDERR_FILENO + 1; fd < count; ++fd) Position(fd) = lseek(fd, 0, SEEK_CUR);
  }

  void Restore() {
    for (int fd = STDERR_FILENO + 1; fd < kMax; ++fd) {
      if (Position(fd) >= 0) (void)lseek(fd, Position(fd), SEEK_SET);
    }
  }

 private:
  static constexpr int kMax = 1024;
  off_t& Position(int fd) { return positions_[static_cast<size_t>(fd)]; }

  std::array<off_t, kMax> positions_;
};
FilePositions g_positions;

// For a session that is not copied: the host cannot set the limit from outside if the process runs
// as another user or in a container.
bool g_limits_own_cpu = false;

void Answer(int socket, std::string (*execute)(const RequestParts&)) {
  const ReceivedRequest request = ReceiveRequest(socket);
  const std::chrono::seconds cpu(request.header.cpu_limit_seconds);
  if (g_limits_own_cpu && !seal::AllowCpu(cpu)) _exit(kUnused);
  SetOutputLimit(request.header.output_limit);
  g_positions.Restore();
  const std::string report = execute(request.Parts(socket));
  g_positions.Save();
  Report(socket, report);
}

}  // namespace

void ServeSession(int socket, core::CaptureLayout layout) {
  g_positions.Save();
  std::vector<core::PageRange> hot;
  for (;;) {
    Order received = ReceiveOrder(socket);
    switch (received.order.kind) {
      case core::SessionOrder::kCell: Answer(socket, ExecuteCell); break;
      case core::SessionOrder::kAsk: Answer(socket, AnswerQuestion); break;
      case core::SessionOrder::kCopy:
        hot = ReceiveRanges(socket, received.order.hot_ranges);
        BeforeClone();
        if (CopySelf(socket, std::move(received.descriptor), [&] { AfterCopyInOriginal(hot); })) {
          Wait(socket, layout);
        }
        break;
      default: _exit(kUnused);
    }
  }
}

void ServeKeptSession(int socket, core::CaptureLayout layout, bool limits_cpu,
                      const std::function<bool(const core::SessionOrder&)>& lower) {
  const Order received = ReceiveOrder(socket);
  if (received.order.kind != core::SessionOrder::kBegin || !lower(received.order)) _exit(kUnused);
  if (!BeginSession()) _exit(kUnused);
  g_limits_own_cpu = limits_cpu;
  Signal(socket, {core::WorkerSignal::kAwake, 0, 0});
  ServeSession(socket, layout);
}

}  // namespace belljar::inside
