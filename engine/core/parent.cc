#include "engine/core/parent.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/core/socket.h"

namespace belljar {
namespace {

constexpr size_t kStack = 64 << 10;
constexpr long kLookSeconds = 1;

// A system call that touches nothing of libc's: errno is a variable of the thread that made us, and
// that thread goes on.
long Call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

template <typename T>
long Address(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

// Of the kernel; libc's has another layout.
struct KernelAction {
  void* handler = nullptr;  // SIG_DFL
  unsigned long flags = 0;
  void* restorer = nullptr;
  uint64_t mask = 0;
};

// As CloneProcess does it.
long CloneByCall(const clone_args& arguments) {
  const long pid = Call(SYS_clone3, Address(&arguments), sizeof arguments);
  if (pid != -ENOSYS) return pid;
  const uint64_t flags = (arguments.flags & 0xffffffff) | arguments.exit_signal;
  return Call(SYS_clone, static_cast<long>(flags), 0, static_cast<long>(arguments.pidfd));
}

// What a process may do, as proc(5) says it in lines that begin so.
constexpr std::string_view kRights[] = {"Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp"};

// Bytes that nobody has to allocate.
struct Text {
  std::string_view View() const { return {bytes.data(), size}; }
  // Precondition: it fits.
  void Append(std::string_view more) {
    std::copy(more.begin(), more.end(), bytes.data() + size);
    size += more.size();
  }

  std::array<char, 16 << 10> bytes;
  size_t size = 0;
};

// The rights that /proc/PID/status tells; none where it cannot be read any more. As Main, it calls
// nothing that has a variable of a thread.
void ReadRights(int status, Text& whole, Text& rights) {
  const long got =
      Call(SYS_pread64, status, Address(whole.bytes.data()), static_cast<long>(whole.bytes.size()));
  whole.size = got > 0 ? static_cast<size_t>(got) : 0;
  rights.size = 0;
  for (std::string_view left = whole.View(); !left.empty();) {
    const std::string_view line = left.substr(0, std::min(left.find('\n'), left.size() - 1) + 1);
    left.remove_prefix(line.size());
    for (const std::string_view name : kRights) {
      if (line.starts_with(name)) rights.Append(line);
    }
  }
}

}  // namespace

struct Parent::Order {
  const clone_args* clone = nullptr;
  const std::function<void()>* child = nullptr;
  idtype_t type = P_ALL;
  int id = -1;
  siginfo_t* info = nullptr;
  rusage* usage = nullptr;
  long result = 0;
};

// What the parent knows, by number: that its table of descriptors is the program's is what lets it
// see a number that the program has closed.
struct Parent::Line {
  UniqueFd socket;   // the other end of orders_
  UniqueFd program;  // its pidfd, readable once it has ended
  UniqueFd status;   // its /proc/PID/status
  Text whole, rights_at_first, rights;
};

// In the parent: no library, no allocation, no variable of a thread.
int Parent::Main(void* given) {
  Line& line = *static_cast<Line*>(given);
  const int socket = line.socket.get();
  const int program = line.program.get();
  const int status = line.status.get();
  Call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  Call(SYS_prctl, PR_SET_NAME, Address("belljar-parent"));
  // With SIG_IGN, which it may have inherited, the kernel would reap them.
  const KernelAction standard;
  Call(SYS_rt_sigaction, SIGCHLD, Address(&standard), 0, sizeof standard.mask);
  for (;;) {
    // The death signal is not sent by a program that has given up the right to, nor by one that
    // ended before it was asked for.
    pollfd watched[] = {{socket, POLLIN, 0}, {program, POLLIN, 0}};
    timespec second = {kLookSeconds, 0};
    const long ready = Call(SYS_ppoll, Address(watched), 2, Address(&second));
    ReadRights(status, line.whole, line.rights);
    if (watched[1].revents || line.rights.View() != line.rights_at_first.View()) {
      Call(SYS_exit_group, 0);
    }
    if (ready <= 0) continue;
    Order* order = nullptr;
    const long got = Call(SYS_read, socket, Address(&order), sizeof order);
    if (got == -EINTR) continue;
    if (got != sizeof order || !order) Call(SYS_exit_group, 0);
    if (order->clone) {
      order->result = CloneByCall(*order->clone);
      // A copy of all memory by now, in which one may do what one may after a fork.
      if (order->result == 0) (*order->child)();
    } else {
      do {
        order->result = Call(SYS_waitid, order->type, order->id, Address(order->info),
                             WEXITED | __WALL, Address(order->usage));
      } while (order->result == -EINTR);
    }
    const char done = 1;
    while (Call(SYS_write, socket, Address(&done), 1) == -EINTR) continue;
  }
}

Result<std::shared_ptr<Parent>> Parent::Start() {
  std::shared_ptr<Parent> parent(new Parent());
  auto pair = CreateSocketPair(SOCK_STREAM);
  if (!pair) return pair.error();
  parent->orders_ = std::move(pair->first);
  parent->line_ = std::make_unique<Line>();
  Line& line = *parent->line_;
  line.socket = std::move(pair->second);
  line.program.Reset(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!line.program) return SystemError("open a pidfd of this process");
  line.status.Reset(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  if (!line.status) return SystemError("open /proc/self/status");
  ReadRights(line.status.get(), line.whole, line.rights_at_first);
  parent->stack_ = std::make_unique<char[]>(kStack);
  // It never handles a signal, which would run this process's handlers on its small stack.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int pidfd = -1;
  // Without an exit signal.
  parent->pid_ = clone(&Main, parent->stack_.get() + kStack, CLONE_VM | CLONE_FILES | CLONE_PIDFD,
                       parent->line_.get(), &pidfd);
  const int refused = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (parent->pid_ < 0) return SystemErrorOf(refused, "clone a parent for zygotes");
  parent->ended_.Reset(pidfd);
  return parent;
}

Parent::~Parent() {
  if (!ended_) return;
  End();
  syscall(SYS_pidfd_send_signal, ended_.get(), SIGKILL, nullptr, 0);
  siginfo_t info;
  while (waitid(P_PIDFD, static_cast<id_t>(ended_.get()), &info, WEXITED | __WALL) != 0 &&
         errno == EINTR) {
    continue;
  }
}

bool Parent::IsAlive() const {
  pollfd ended{ended_.get(), POLLIN, 0};
  return poll(&ended, 1, 0) == 0;
}

void Parent::End() const { shutdown(orders_.get(), SHUT_RDWR); }

long Parent::Ask(Order& order) {
  const std::lock_guard lock(mutex_);
  Order* const sent = &order;
  if (send(orders_.get(), &sent, sizeof sent, MSG_NOSIGNAL) != sizeof sent) return -ECHILD;
  // If somebody kills it there is no answer, and its children are another's.
  pollfd watched[] = {{orders_.get(), POLLIN, 0}, {ended_.get(), POLLIN, 0}};
  while (poll(watched, 2, -1) < 0 && errno == EINTR) continue;
  char done;
  if (!(watched[0].revents & POLLIN) || read(orders_.get(), &done, 1) != 1) return -ECHILD;
  return order.result;
}

pid_t Parent::Clone(const clone_args& arguments, const std::function<void()>& child) {
  Order order;
  order.clone = &arguments;
  order.child = &child;
  const long result = Ask(order);
  if (result >= 0) return static_cast<pid_t>(result);
  errno = static_cast<int>(-result);
  return -1;
}

bool Parent::Reap(idtype_t type, int id, siginfo_t* info, rusage* usage) {
  siginfo_t ignored;
  Order order;
  order.type = type;
  order.id = id;
  order.info = info ? info : &ignored;
  order.usage = usage;
  const long result = Ask(order);
  if (result >= 0) return true;
  errno = static_cast<int>(-result);
  return false;
}

}  // namespace belljar
