#include "engine/mounts/mount_process.h"

#include <linux/sched.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "engine/core/socket.h"

namespace belljar::mounts {
namespace {

constexpr std::chrono::seconds kPatience{10};

}  // namespace

// Not a child for which a program waits that waits for all of its own: there is no exit signal
// (waitpid(2), __WALL).
core::Result<core::Process> StartMountProcess(const char* operation, uint64_t flags,
                                              const std::function<void()>& become) {
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND | flags;
  arguments.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  const pid_t pid = core::CloneProcess(arguments);
  if (pid == 0) become();
  if (pid < 0) return core::SystemError(operation, core::ProcessAdvice(errno));
  core::Process process(pid, core::UniqueFd(pidfd));
  if (!process) return core::SystemErrorOf(EMFILE, operation, "no descriptor is available");
  return process;
}

bool SendMountAnswer(int socket, MountAnswer answer, int descriptor) {
  iovec part{&answer, sizeof answer};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  return syscall(SYS_sendmsg, socket, &message, MSG_NOSIGNAL) == sizeof answer;
}

void FailToMount(int socket, int32_t step) {
  (void)SendMountAnswer(socket, {step, errno});
  _exit(1);
}

core::Result<MountAnswered> ReceiveMountAnswer(int socket, const char* operation) {
  if (auto ready = core::WaitReadable(socket, core::Clock::now() + kPatience); !ready)
    return ready.error();
  core::Result<core::Message> message = core::ReceiveMessage(socket, sizeof(MountAnswer));
  if (!message) return message.error();
  MountAnswered answered;
  if (message->bytes.size() != sizeof answered.answer)
    return core::MakeError(operation, "the process that mounts has ended");
  memcpy(&answered.answer, message->bytes.data(), sizeof answered.answer);
  if (!message->descriptors.empty()) answered.descriptor = std::move(message->descriptors[0]);
  return answered;
}

}  // namespace belljar::mounts
