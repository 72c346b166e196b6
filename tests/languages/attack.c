// Tries one attack, named by its argument; prints WON if it succeeds. The same program is the
// control outside, where each one succeeds.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int ok(long result) { return result >= 0; }

static int child_of_clone3(unsigned long flags) {
  struct clone_args arguments = {.flags = flags, .exit_signal = SIGCHLD};
  long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) _exit(0);
  return pid > 0;
}

static int child_of_clone(unsigned long flags) {
  long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) _exit(0);
  return pid > 0;
}

static int reads(const char* path) {
  char byte;
  int fd = open(path, O_RDONLY);
  return fd >= 0 && read(fd, &byte, 1) == 1;
}

static int writes(const char* path) {
  int fd = open(path, O_WRONLY | O_CREAT, 0600);
  if (fd < 0) return 0;
  unlink(path);
  return 1;
}

static int opens_socket(int family, int type, int protocol) {
  return ok(socket(family, type, protocol));
}

static int abstract_socket(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  memcpy(address.sun_path, "\0belljar-attack", 15);
  return ok(bind(fd, (struct sockaddr*)&address, sizeof(sa_family_t) + 15));
}

static int executable_memory(void) {
  unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};  // mov eax, 42; ret
  void* page =
      mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 0;
  memcpy(page, code, sizeof code);
  return ((int (*)(void))page)() == 42;
}

static int later_executable_memory(void) {
  void* page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return ok(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static int executes_memory_file(void) {
  int fd = syscall(SYS_memfd_create, "attack", 0);
  if (fd < 0) return 0;
  int from = open("/usr/bin/true", O_RDONLY);
  char bytes[4096];
  for (ssize_t size; (size = read(from, bytes, sizeof bytes)) > 0;)
    if (write(fd, bytes, size) != size) return 0;
  char path[40];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (fork() == 0) {
    char *arguments[] = {"true", 0}, *none[] = {0};
    execve(path, arguments, none);
    _exit(1);
  }
  int status = 1;
  wait(&status);
  return status == 0;
}

static int reads_parent_memory(void) {
  char byte;
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    struct iovec to = {&byte, 1}, from = {&status, 1};
    _exit(process_vm_readv(getppid(), &to, 1, &from, 1, 0) == 1 ? 0 : 1);
  }
  waitpid(pid, &status, 0);
  return status == 0;
}

static int foreign_int80(void) {
#ifdef __x86_64__
  long result = -1;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");  // getpid
  return result > 0;
#else
  return 0;
#endif
}

static int changes_own_text(void) {
  // /proc/self/mem writes where the mapping forbids it.
  int fd = open("/proc/self/mem", O_RDWR);
  unsigned char byte = 0xc3;
  return fd >= 0 && pwrite(fd, &byte, 1, (off_t)(unsigned long)&executable_memory) == 1;
}

static int other_identity(void) { return ok(setuid(0)) && ok(setuid(0)) && getuid() == 0; }

static int limits_of_init(void) {
  struct rlimit limit = {1, 1};
  return ok(prlimit(getppid(), RLIMIT_CORE, 0, &limit));
}

static int makes_device(void) {
  return ok(mknod("device", S_IFCHR | 0600, 0x105)) && reads("device");
}

static int has_other_descriptors(void) {
  for (int fd = 3; fd < 65536; ++fd)
    if (ok(fcntl(fd, F_GETFD))) return 1;
  return 0;
}

// Puts a character into the input of whoever reads the terminal next.
static int types_on_the_terminal(void) {
  int terminal = open("/dev/tty", O_RDWR);
  if (ok(terminal) && ok(ioctl(terminal, TIOCSTI, "#"))) return 1;
  for (int fd = 0; fd < 256; ++fd)
    if (isatty(fd) || ok(ioctl(fd, TIOCSTI, "#"))) return 1;
  return 0;
}

static const struct {
  const char* name;
  int (*attack)(void);
} kCalls[] = {
    {"executable memory", executable_memory},
    {"memory executable later", later_executable_memory},
    {"memory file", executes_memory_file},
    {"memory of the parent", reads_parent_memory},
    {"int 0x80", foreign_int80},
    {"own text", changes_own_text},
    {"abstract socket", abstract_socket},
    {"root", other_identity},
    {"limits of init", limits_of_init},
    {"device", makes_device},
    {"descriptors", has_other_descriptors},
    {"terminal", types_on_the_terminal},
};

int main(int argc, char** argv) {
  (void)argc;
  const char* name = argv[1];
  int won = 0;
  if (!strcmp(name, "call")) {
    won = ok(syscall(atol(argv[2]), -1L, -1L, -1L, -1L, -1L, -1L));
  } else if (!strcmp(name, "clone")) {
    won = child_of_clone(strtoul(argv[2], 0, 0));
  } else if (!strcmp(name, "clone3")) {
    won = child_of_clone3(strtoul(argv[2], 0, 0));
  } else if (!strcmp(name, "read")) {
    won = reads(argv[2]);
  } else if (!strcmp(name, "write")) {
    won = writes(argv[2]);
  } else if (!strcmp(name, "socket")) {
    won = opens_socket(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
  } else if (!strcmp(name, "kill")) {
    won = ok(kill(atoi(argv[2]), atoi(argv[3])));
  } else {
    for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; ++i)
      if (!strcmp(name, kCalls[i].name)) won = kCalls[i].attack();
  }
  puts(won ? "WON" : "held");
}
