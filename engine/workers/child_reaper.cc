#include "engine/workers/child_reaper.h"

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
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/socket.h"
#include "engine/core/thread.h"

namespace belljar::workers {
namespace {

constexpr size_t kStack = 64 << 10;
constexpr long kCheckSeconds = 1;
// Linux allows a process 65,536 groups, each of ten digits and a space.
constexpr size_t kMaxStatus = 1 << 20;
// How much the other lines (name, state) may grow.
constexpr size_t kSpareStatus = 4 << 10;

// A system call that does not touch libc state: errno belongs to the thread that created us, which
// keeps running.
long Call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc #0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
#else
#error "belljar supports x86-64 and aarch64"
#endif
}

template <typename T>
long Address(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

// The kernel's struct; libc's has another layout.
struct KernelAction {
  void* handler = nullptr;  // SIG_DFL
  unsigned long flags = 0;
  void* restorer = nullptr;
  uint64_t mask = 0;
};

// Like CloneProcess.
long CloneByCall(const clone_args& arguments) {
  const long pid = Call(SYS_clone3, Address(&arguments), sizeof arguments);
  if (pid != -ENOSYS) return pid;
  const uint64_t flags = (arguments.flags & 0xffffffff) | arguments.exit_signal;
  return Call(SYS_clone, static_cast<long>(flags), 0, static_cast<long>(arguments.pidfd));
}

// The rights of a process that count here, as lines of /proc/PID/status (proc(5)): those that it
// cannot regain once it has given them up. Others may change temporarily. The fourth id column
// (file system id) can be set to any of the other three, and CapEff can be raised to CapPrm.
// setfsuid lowers both, and this engine calls it in the calling thread (GuestIdentity in
// workspace/workspace.cc).
struct RightsLine {
  std::string_view name;
  size_t columns;  // number of columns that count; 0: all
};
constexpr RightsLine kRights[] = {{"Uid:", 3},    {"Gid:", 3},        {"Groups:", 0},
                                  {"CapInh:", 0}, {"CapPrm:", 0},     {"CapBnd:", 0},
                                  {"CapAmb:", 0}, {"NoNewPrivs:", 0}, {"Seccomp", 0}};

std::string_view FirstColumns(std::string_view line, size_t columns) {
  size_t end = 0;
  for (; columns > 0 && end != line.npos; --columns) end = line.find('\t', end + 1);
  return line.substr(0, end);
}

// A preallocated buffer, since Main must not allocate.
class Text {
 public:
  explicit Text(size_t capacity) : bytes_(capacity) {}
  std::string_view View() const { return {bytes_.data(), size_}; }
  bool IsFull() const { return size_ == bytes_.size(); }
  void Clear() { size_ = 0; }
  // Precondition: it fits.
  void Append(std::string_view more) {
    std::copy(more.begin(), more.end(), bytes_.data() + size_);
    size_ += more.size();
  }
  // False if the file can no longer be read. Does not set errno.
  bool Read(int fd) {
    const long got =
        Call(SYS_pread64, fd, Address(bytes_.data()), static_cast<long>(bytes_.size()));
    size_ = got > 0 ? static_cast<size_t>(got) : 0;
    return got > 0;
  }

 private:
  std::vector<char> bytes_;
  size_t size_ = 0;
};

// Copies the lines about rights from `status`. Like Main, it uses nothing thread-local.
void KeepRights(const Text& status, Text& rights) {
  rights.Clear();
  for (std::string_view left = status.View(); !left.empty();) {
    const std::string_view line = left.substr(0, std::min(left.find('\n'), left.size() - 1) + 1);
    left.remove_prefix(line.size());
    for (const RightsLine& right : kRights) {
      if (!line.starts_with(right.name)) continue;
      rights.Append(right.columns == 0 ? line : FirstColumns(line, right.columns + 1));
    }
  }
}

// The rights of the process whose /proc/PID/status descriptor it borrows.
class Rights {
 public:
  static core::Result<std::unique_ptr<Rights>> Read(int status) {
    const core::Result<std::string> now = core::ReadAll(status, kMaxStatus);
    if (!now) return now.error();
    std::unique_ptr<Rights> rights(new Rights(status, now->size() + kSpareStatus));
    if (!rights->status_text_.Read(status)) {
      return core::MakeError("read /proc/self/status", "it cannot be read twice");
    }
    KeepRights(rights->status_text_, rights->at_first_);
    return rights;
  }

  // Also false if they can no longer be read. Like Main.
  bool AreTheSame() {
    if (!status_text_.Read(status_) || status_text_.IsFull()) return false;
    KeepRights(status_text_, now_);
    return now_.View() == at_first_.View();
  }

 private:
  Rights(int status, size_t capacity)
      : status_(status), status_text_(capacity), at_first_(capacity), now_(capacity) {}

  const int status_;
  Text status_text_, at_first_, now_;
};

}  // namespace

struct ChildReaper::Order {
  const clone_args* clone = nullptr;
  const std::function<void()>* child = nullptr;
  idtype_t type = P_ALL;
  int id = -1;
  siginfo_t* info = nullptr;
  rusage* usage = nullptr;
  long result = 0;
};

// The reaper's descriptors, by number. It shares the program's descriptor table, so it notices if
// the program has closed one.
struct ChildReaper::Channel {
  core::UniqueFd socket;   // the other end of orders_
  core::UniqueFd program;  // its pidfd, readable once it has ended
  core::UniqueFd status;   // its /proc/PID/status
  std::unique_ptr<Rights> rights;
};

// Runs in the reaper: no library calls, no allocation, nothing thread-local.
int ChildReaper::Main(void* given) {
  Channel& channel = *static_cast<Channel*>(given);
  const int socket = channel.socket.get();
  const int program = channel.program.get();
  Rights& rights = *channel.rights;
  Call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  Call(SYS_prctl, PR_SET_NAME, Address("belljar-parent"));
  // With an inherited SIG_IGN the kernel would reap the children.
  const KernelAction standard;
  Call(SYS_rt_sigaction, SIGCHLD, Address(&standard), 0, sizeof standard.mask);
  for (;;) {
    // The death signal is not enough: a program that gave up the permission cannot send it, and the
    // program may have ended before it was set.
    pollfd watched[] = {{socket, POLLIN, 0}, {program, POLLIN, 0}};
    timespec second = {kCheckSeconds, 0};
    const long ready = Call(SYS_ppoll, Address(watched), 2, Address(&second));
    if (watched[1].revents || !rights.AreTheSame()) Call(SYS_exit_group, 0);
    if (ready <= 0) continue;
    Order* order = nullptr;
    const long got = Call(SYS_read, socket, Address(&order), sizeof order);
    if (got == -EINTR) continue;
    if (got != sizeof order || !order) Call(SYS_exit_group, 0);
    if (order->clone) {
      order->result = CloneByCall(*order->clone);
      // By now a copy of all memory. Only what is allowed after fork may be done.
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

core::Result<std::shared_ptr<ChildReaper>> ChildReaper::Start() {
  std::shared_ptr<ChildReaper> parent(new ChildReaper());
  auto pair = core::CreateSocketPair(SOCK_STREAM);
  if (!pair) return pair.error();
  parent->orders_ = std::move(pair->first);
  parent->channel_ = std::make_unique<Channel>();
  Channel& channel = *parent->channel_;
  channel.socket = std::move(pair->second);
  channel.program.Reset(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!channel.program) return core::SystemError("open a pidfd of this process");
  channel.status.Reset(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  if (!channel.status) return core::SystemError("open /proc/self/status");
  auto rights = Rights::Read(channel.status.get());
  if (!rights) return rights.error();
  channel.rights = std::move(*rights);
  parent->stack_ = std::make_unique<char[]>(kStack);
  // It must not handle signals: the program's handlers would run on its small stack.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int pidfd = -1;
  // No exit signal.
  parent->pid_ = clone(&Main, parent->stack_.get() + kStack, CLONE_VM | CLONE_FILES | CLONE_PIDFD,
                       parent->channel_.get(), &pidfd);
  const int refused = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (parent->pid_ < 0)
    return core::SystemErrorOf(refused, "clone a parent for zygotes", core::ProcessAdvice(refused));
  parent->ended_.Reset(pidfd);
  return parent;
}

ChildReaper::~ChildReaper() {
  if (!ended_) return;
  End();
  syscall(SYS_pidfd_send_signal, ended_.get(), SIGKILL, nullptr, 0);
  siginfo_t info;
  while (waitid(P_PIDFD, static_cast<id_t>(ended_.get()), &info, WEXITED | __WALL) != 0 &&
         errno == EINTR) {
    continue;
  }
}

bool ChildReaper::IsAlive() const {
  pollfd ended{ended_.get(), POLLIN, 0};
  return !is_ending_ && poll(&ended, 1, 0) == 0;
}

void ChildReaper::End() const {
  is_ending_ = true;
  shutdown(orders_.get(), SHUT_RDWR);
}

long ChildReaper::Submit(Order& order) {
  const std::lock_guard lock(mutex_);
  Order* const sent = &order;
  if (send(orders_.get(), &sent, sizeof sent, MSG_NOSIGNAL) != sizeof sent) return -ECHILD;
  // If the reaper is killed there is no reply, and its children are reparented.
  pollfd watched[] = {{orders_.get(), POLLIN, 0}, {ended_.get(), POLLIN, 0}};
  while (poll(watched, 2, -1) < 0 && errno == EINTR) continue;
  char done;
  if (!(watched[0].revents & POLLIN) || read(orders_.get(), &done, 1) != 1) return -ECHILD;
  return order.result;
}

pid_t ChildReaper::Clone(const clone_args& arguments, const std::function<void()>& child) {
  Order order;
  order.clone = &arguments;
  order.child = &child;
  const long result = Submit(order);
  if (result >= 0) return static_cast<pid_t>(result);
  errno = static_cast<int>(-result);
  return -1;
}

bool ChildReaper::Reap(pid_t pid, int pidfd, siginfo_t* info, rusage* usage) {
  siginfo_t ignored;
  Order order;
  order.type = pidfd >= 0 ? P_PIDFD : P_PID;
  order.id = pidfd >= 0 ? pidfd : pid;
  order.info = info ? info : &ignored;
  order.usage = usage;
  const long result = Submit(order);
  if (result >= 0) return true;
  errno = static_cast<int>(-result);
  return false;
}

core::Error ParentEnded(std::string operation) {
  return core::MakeError(std::move(operation),
                         "belljar-parent, the parent process of the workers, has ended and they "
                         "with it: it was killed, or this program has given up rights");
}

}  // namespace belljar::workers
