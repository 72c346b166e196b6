#include "engine/inside/session_worker.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/core/fd.h"
#include "engine/core/mapping.h"
#include "engine/core/socket.h"
#include "engine/core/wire.h"
#include "engine/inside/capture.h"
#include "engine/inside/host_channel.h"
#include "engine/inside/hot_pages.h"
#include "engine/inside/interpreter.h"
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

// Gives `socket` its number: no filter allows dup2 without a workspace.
void Replace(int number, core::UniqueFd socket) {
  close(number);
  if (fcntl(socket.get(), F_DUPFD, number) != number) _exit(kUnused);
}

// Returns twice: true in the copy, which then has told the host. `afterwards` is done by the
// original before it tells the host, which stops it then.
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

void Answer(int socket, std::string (*execute)(const RequestParts&)) {
  const ReceivedRequest request = ReceiveRequest(socket);
  SetOutputLimit(request.header.output_limit);
  Report(socket, execute(request.Parts(socket)));
}

}  // namespace

void ServeSession(int socket, core::CaptureLayout layout) {
  for (;;) {
    Order received = ReceiveOrder(socket);
    switch (received.order.kind) {
      case core::SessionOrder::kCell: Answer(socket, ExecuteCell); break;
      case core::SessionOrder::kAsk: Answer(socket, AnswerQuestion); break;
      case core::SessionOrder::kCopy:
        BeforeClone();
        if (CopySelf(socket, std::move(received.descriptor), AfterCopyInOriginal)) {
          Wait(socket, layout);
        }
        break;
      default: _exit(kUnused);
    }
  }
}

}  // namespace belljar::inside
