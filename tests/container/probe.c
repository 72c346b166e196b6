// What the tests of container/ run in a container, in place of a guest: one static program, so that
// an image of it needs nothing else. Its first argument says what it does.
//
//   echo            copies its standard input to its standard output until the end of it
//   both TEXT       TEXT on standard output, the same on standard error
//   exit N          exits with N
//   sleep           until it is killed
//   memory          takes memory until it is stopped
//   forks           forks until it is refused; prints how many it got
//   fill PATH       writes to PATH until it is refused; prints how many MiB it got
//   flood N         N MiB of zeros on standard output
//   facts           what holds it, a line each: "name value"
//   dump PATH       what PATH holds
//   readable PATH…  whether each can be opened, a line each: "PATH yes", or why not
//   writable PATH…  the same for writing; nothing is written
//   log             the kernel's log
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static int WriteAll(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return -1;
    bytes += written;
    size -= (size_t)written;
  }
  return 0;
}

static int Echo(void) {
  static char buffer[64 << 10];
  for (;;) {
    const ssize_t size = read(0, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return size == 0 ? 0 : 1;
    if (WriteAll(1, buffer, (size_t)size) != 0) return 1;
  }
}

static int Memory(void) {
  for (size_t taken = 0;; taken += 4 << 20) {
    char* block = malloc(4 << 20);
    if (!block) return 3;
    memset(block, (int)(taken >> 22) + 1, 4 << 20);
  }
}

static int Forks(void) {
  int forked = 0;
  pid_t children[4096];
  while (forked < 4096) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      pause();
      _exit(0);
    }
    children[forked++] = child;
  }
  printf("%d\n", forked);
  fflush(stdout);
  for (int i = 0; i < forked; ++i) kill(children[i], SIGKILL);
  while (wait(NULL) > 0) continue;
  return 0;
}

static int Fill(const char* path) {
  static char block[1 << 20];
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) {
    printf("%s\n", strerrorname_np(errno));
    return 1;
  }
  int filled = 0;
  while (filled < 4096 && WriteAll(fd, block, sizeof block) == 0) ++filled;
  printf("%d\n", filled);
  return 0;
}

static int Flood(int mebibytes) {
  static char block[1 << 20];
  for (int i = 0; i < mebibytes; ++i) {
    if (WriteAll(1, block, sizeof block) != 0) return 1;
  }
  return 0;
}

static int Dump(const char* path) {
  static char buffer[64 << 10];
  const int fd = open(path, O_RDONLY);
  ssize_t size = fd < 0 ? -1 : 0;
  while (fd >= 0 && (size = read(fd, buffer, sizeof buffer)) > 0) {
    if (WriteAll(1, buffer, (size_t)size) != 0) return 1;
  }
  return size != 0;
}

static int TryToOpen(char** paths, int flags) {
  for (; *paths; ++paths) {
    const int fd = open(*paths, flags);
    printf("%s %s\n", *paths, fd < 0 ? strerrorname_np(errno) : "yes");
    if (fd >= 0) close(fd);
  }
  return 0;
}

static int KernelLog(void) {
  static char buffer[1 << 20];
  const long size = syscall(SYS_syslog, 3 /* read all */, buffer, sizeof buffer);
  return size < 0 ? 1 : WriteAll(1, buffer, (size_t)size);
}

// --- facts -----------------------------------------------------------------------------------

static void Say(const char* name, int refused) {
  printf("%s %s\n", name, refused ? strerrorname_np(errno) : "yes");
}

static void SayStatus(const char* name, const char* field) {
  char line[512];
  FILE* status = fopen("/proc/self/status", "re");
  while (status && fgets(line, sizeof line, status)) {
    if (strncmp(line, field, strlen(field)) == 0 && line[strlen(field)] == ':') {
      line[strcspn(line, "\n")] = 0;
      printf("%s %s\n", name, line + strlen(field) + 2);
    }
  }
  if (status) fclose(status);
}

static void SayLimit(const char* name, int resource) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  printf("%s %lld\n", name, limit.rlim_cur == RLIM_INFINITY ? -1 : (long long)limit.rlim_cur);
}

// Each in a child of its own: what it gets must not change what comes after it.
static void Try(const char* name, int (*attempt)(void)) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    errno = 0;
    const int refused = attempt() != 0;
    Say(name, refused);
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) printf("%s killed by signal %d\n", name, WTERMSIG(status));
}

static int UserNamespace(void) { return unshare(CLONE_NEWUSER); }
static int AllNamespaces(void) {
  return unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS);
}
static int PidNamespace(void) { return unshare(CLONE_NEWUSER | CLONE_NEWPID); }
static int Clone3(void) {
  struct clone_args arguments = {.exit_signal = SIGCHLD};
  const long child = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (child == 0) _exit(0);
  return child < 0;
}
static int PidFd(void) { return syscall(SYS_pidfd_open, getpid(), 0) < 0; }
static int MemFd(void) {
  const long fd = syscall(SYS_memfd_create, "probe", 3 /* CLOEXEC, ALLOW_SEALING */);
  return fd < 0 || fcntl((int)fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0;
}
static int Landlock(void) {
  const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi <= 0) return 1;
  const struct landlock_ruleset_attr attributes = {.handled_access_fs =
                                                       LANDLOCK_ACCESS_FS_READ_DIR};
  const long ruleset = syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  if (ruleset < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
  if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) return 1;
  const int root = open("/", O_RDONLY | O_DIRECTORY);
  if (root >= 0) errno = EISDIR;
  return root >= 0;
}
static int InstallFilter(uint32_t answer) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {4, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0;
}
static int SeccompErrno(void) {
  if (InstallFilter(SECCOMP_RET_ERRNO | EXDEV) != 0) return 1;
  if (syscall(SYS_getppid) == -1 && errno == EXDEV) return 0;
  errno = EPROTO;
  return 1;
}
static volatile sig_atomic_t trapped = 0;
static void OnTrap(int signal) { trapped = signal; }
static int SeccompTrap(void) {
  signal(SIGSYS, OnTrap);
  if (InstallFilter(SECCOMP_RET_TRAP) != 0) return 1;
  syscall(SYS_getppid);
  errno = EPROTO;
  return !trapped;
}
static int SeccompKill(void) {
  if (InstallFilter(SECCOMP_RET_KILL_PROCESS) != 0) return 1;
  syscall(SYS_getppid);
  errno = EPROTO;
  return 1;  // yes is: killed by signal 31
}
static int WriteRoot(void) { return open("/probe-was-here", O_WRONLY | O_CREAT, 0600) < 0; }
static int WriteSys(void) {
  const int fd = open("/proc/sys/kernel/hostname", O_WRONLY);
  return fd < 0;
}
static int Mount(void) { return mount("none", "/tmp", "tmpfs", 0, NULL); }
static int MakeDevice(void) { return mknod("/tmp/device", S_IFBLK | 0600, 0xfe00); }
static int BecomeRoot(void) { return setuid(0); }
static int Kmsg(void) { return syscall(SYS_syslog, 3, (char[256]){0}, 256) < 0; }
static int Connect(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(53)};
  inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
  return fd < 0 || connect(fd, (struct sockaddr*)&address, sizeof address) != 0;
}
static int Ptrace(void) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const long got = syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, child, 0, 0);
  const int error = errno;
  kill(child, SIGKILL);
  waitpid(child, NULL, __WALL);
  errno = error;
  return got != 0;
}
static int RunFromTmp(void) {
  const int out = open("/tmp/run", O_WRONLY | O_CREAT, 0700);
  const int in = open("/proc/self/exe", O_RDONLY);
  static char buffer[64 << 10];
  ssize_t size;
  while (out >= 0 && in >= 0 && (size = read(in, buffer, sizeof buffer)) > 0) {
    if (WriteAll(out, buffer, (size_t)size) != 0) return 1;
  }
  if (out < 0 || in < 0) return 1;
  close(out);
  return access("/tmp/run", X_OK) != 0;
}

static int Facts(void) {
  struct utsname kernel;
  uname(&kernel);
  printf("kernel %s %s\nhostname %s\n", kernel.release, kernel.version, kernel.nodename);
  printf("uid %d\ngid %d\ngroups %d\npid %d\n", (int)getuid(), (int)getgid(), getgroups(0, NULL),
         (int)getpid());
  SayStatus("capabilities_effective", "CapEff");
  SayStatus("capabilities_bounding", "CapBnd");
  SayStatus("no_new_privileges", "NoNewPrivs");
  SayStatus("seccomp", "Seccomp");
  SayLimit("open_files", RLIMIT_NOFILE);
  SayLimit("core", RLIMIT_CORE);
  SayLimit("file_size", RLIMIT_FSIZE);
  struct statvfs tmp;
  if (statvfs("/tmp", &tmp) == 0) {
    printf("tmp_bytes %llu\n", (unsigned long long)(tmp.f_blocks * tmp.f_frsize));
  }
  printf("processors %ld\nmemory %lld\n", sysconf(_SC_NPROCESSORS_ONLN),
         (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
  Try("user_namespace", UserNamespace);
  Try("all_namespaces", AllNamespaces);
  Try("pid_namespace", PidNamespace);
  Try("clone3", Clone3);
  Try("pidfd", PidFd);
  Try("sealed_memory", MemFd);
  Try("landlock", Landlock);
  Try("seccomp_errno", SeccompErrno);
  Try("seccomp_trap", SeccompTrap);
  Try("seccomp_kill", SeccompKill);
  Try("write_root", WriteRoot);
  Try("write_proc_sys", WriteSys);
  Try("mount", Mount);
  Try("device", MakeDevice);
  Try("become_root", BecomeRoot);
  Try("kernel_log", Kmsg);
  Try("connect", Connect);
  Try("ptrace", Ptrace);
  Try("run_from_tmp", RunFromTmp);
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const char* argument = argc > 2 ? argv[2] : "";
  if (strcmp(what, "echo") == 0) return Echo();
  if (strcmp(what, "both") == 0) {
    return WriteAll(1, argument, strlen(argument)) | WriteAll(2, argument, strlen(argument));
  }
  if (strcmp(what, "exit") == 0) return atoi(argument);
  if (strcmp(what, "sleep") == 0) return pause();
  if (strcmp(what, "memory") == 0) return Memory();
  if (strcmp(what, "forks") == 0) return Forks();
  if (strcmp(what, "fill") == 0) return Fill(argument);
  if (strcmp(what, "flood") == 0) return Flood(atoi(argument));
  if (strcmp(what, "facts") == 0) return Facts();
  if (strcmp(what, "dump") == 0) return Dump(argument);
  if (strcmp(what, "readable") == 0) return TryToOpen(argv + 2, O_RDONLY | O_NONBLOCK);
  if (strcmp(what, "writable") == 0) return TryToOpen(argv + 2, O_WRONLY | O_NONBLOCK);
  if (strcmp(what, "log") == 0) return KernelLog();
  return 64;
}
