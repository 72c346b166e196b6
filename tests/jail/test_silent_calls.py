"""A system call that the filter denies is an exception of the program: no function returns as if it
had been made.

Every function of the modules that wrap system calls is called with the policy off, since the
restricted one offers few of them, each in a run of its own. If a run ends well although a call was
denied, C ignores the error somewhere. Then the function must either have done what it is for in
another way, which is reviewed below, or raise.
"""

from collections.abc import Iterator

import pytest

from tests.jail.conftest import JailRunner, Ran

MODULES = ("os", "resource", "signal", "socket", "time")

# What functions are called with; the others take no arguments.
ARGUMENTS = {
    "os.WCOREDUMP": "0",
    "os.WEXITSTATUS": "0",
    "os.WIFCONTINUED": "0",
    "os.WIFEXITED": "0",
    "os.WIFSIGNALED": "0",
    "os.WIFSTOPPED": "0",
    "os.WSTOPSIG": "0",
    "os.WTERMSIG": "0",
    "os.access": "'/', os.R_OK",
    "os.chdir": "'/'",
    "os.chmod": "'/', 0o755",
    "os.chown": "'/', 0, 0",
    "os.chroot": "'/'",
    "os.close": "9",
    "os.closerange": "8, 10",
    "os.confstr": "'CS_PATH'",
    "os.copy_file_range": "0, 1, 1",
    "os.device_encoding": "0",
    "os.dup": "0",
    "os.dup2": "0, 9",
    "os.eventfd": "0",
    "os.eventfd_read": "0",
    "os.eventfd_write": "1, 1",
    "os.execl": "'/bin/true', 'true'",
    "os.execle": "'/bin/true', 'true', {}",
    "os.execlp": "'true', 'true'",
    "os.execlpe": "'true', 'true', {}",
    "os.execv": "'/bin/true', ['true']",
    "os.execve": "'/bin/true', ['true'], {}",
    "os.execvp": "'true', ['true']",
    "os.execvpe": "'true', ['true'], {}",
    "os.fchdir": "os.open('/', os.O_PATH)",
    "os.fchmod": "0, 0o644",
    "os.fchown": "0, 0, 0",
    "os.fdatasync": "0",
    "os.fdopen": "1, 'w'",
    "os.fpathconf": "0, 'PC_NAME_MAX'",
    "os.fsdecode": "''",
    "os.fsencode": "''",
    "os.fspath": "''",
    "os.fstat": "0",
    "os.fwalk": "'/'",
    "os.fstatvfs": "0",
    "os.fsync": "0",
    "os.ftruncate": "0, 0",
    "os.get_blocking": "0",
    "os.get_inheritable": "0",
    "os.getenv": "'a'",
    "os.getenvb": "b'a'",
    "os.getgrouplist": "'root', 0",
    "os.getpgid": "0",
    "os.getpriority": "os.PRIO_PROCESS, 0",
    "os.getrandom": "4",
    "os.getsid": "0",
    "os.getxattr": "'/', 'user.a'",
    "os.grantpt": "0",
    "os.initgroups": "'root', 0",
    "os.isatty": "0",
    "os.kill": "os.getpid(), 0",
    "os.killpg": "0, 0",
    "os.lchown": "'/', 0, 0",
    "os.link": "'/a', '/b'",
    "os.listxattr": "'/'",
    "os.lockf": "0, os.F_LOCK, 0",
    "os.login_tty": "0",
    "os.lseek": "0, 0, 0",
    "os.lstat": "'/'",
    "os.major": "1",
    "os.makedev": "1, 1",
    "os.makedirs": "'/a/b'",
    "os.memfd_create": "'a'",
    "os.minor": "1",
    "os.mkdir": "'/a'",
    "os.mkfifo": "'/a'",
    "os.mknod": "'/a'",
    "os.nice": "0",
    "os.open": "'/', os.O_PATH",
    "os.pathconf": "'/', 'PC_NAME_MAX'",
    "os.pidfd_open": "os.getpid()",
    "os.pipe2": "0",
    "os.popen": "'true'",
    "os.posix_fadvise": "0, 0, 0, 0",
    "os.posix_fallocate": "0, 0, 1",
    "os.posix_openpt": "0",
    "os.posix_spawn": "'/bin/true', ['true'], {}",
    "os.posix_spawnp": "'true', ['true'], {}",
    "os.pread": "0, 1, 0",
    "os.preadv": "0, [bytearray(1)], 0",
    "os.ptsname": "0",
    "os.putenv": "'a', 'b'",
    "os.pwrite": "1, b'', 0",
    "os.pwritev": "1, [b''], 0",
    "os.read": "0, 1",
    "os.readinto": "0, bytearray(1)",
    "os.readlink": "'/proc/self'",
    "os.readv": "0, [bytearray(1)]",
    "os.register_at_fork": "before=print",
    "os.remove": "'/a'",
    "os.removedirs": "'/a'",
    "os.removexattr": "'/', 'user.a'",
    "os.rename": "'/a', '/b'",
    "os.renames": "'/a', '/b'",
    "os.replace": "'/a', '/b'",
    "os.rmdir": "'/a'",
    "os.sched_get_priority_max": "0",
    "os.sched_get_priority_min": "0",
    "os.sched_getaffinity": "0",
    "os.sched_getparam": "0",
    "os.sched_getscheduler": "0",
    "os.sched_rr_get_interval": "0",
    "os.sched_setaffinity": "0, {0}",
    "os.sched_setparam": "0, os.sched_param(0)",
    "os.sched_setscheduler": "0, 0, os.sched_param(0)",
    "os.sendfile": "1, 0, None, 1",
    "os.set_blocking": "0, True",
    "os.set_inheritable": "0, False",
    "os.setegid": "os.getegid()",
    "os.seteuid": "os.geteuid()",
    "os.setgid": "os.getgid()",
    "os.setgroups": "[]",
    "os.setns": "0",
    "os.setpgid": "0, 0",
    "os.setpriority": "os.PRIO_PROCESS, 0, 0",
    "os.setregid": "-1, -1",
    "os.setresgid": "-1, -1, -1",
    "os.setresuid": "-1, -1, -1",
    "os.setreuid": "-1, -1",
    "os.setuid": "os.getuid()",
    "os.setxattr": "'/', 'user.a', b''",
    "os.spawnl": "0, '/bin/true', 'true'",
    "os.spawnle": "0, '/bin/true', 'true', {}",
    "os.spawnlp": "0, 'true', 'true'",
    "os.spawnlpe": "0, 'true', 'true', {}",
    "os.spawnv": "0, '/bin/true', ['true']",
    "os.spawnve": "0, '/bin/true', ['true'], {}",
    "os.spawnvp": "0, 'true', ['true']",
    "os.spawnvpe": "0, 'true', ['true'], {}",
    "os.splice": "0, 1, 1",
    "os.stat": "'/'",
    "os.statvfs": "'/'",
    "os.strerror": "1",
    "os.symlink": "'a', '/b'",
    "os.sysconf": "'SC_PAGESIZE'",
    "os.system": "'true'",
    "os.tcgetpgrp": "0",
    "os.tcsetpgrp": "0, 1",
    "os.timerfd_create": "time.CLOCK_MONOTONIC",
    "os.timerfd_gettime": "0",
    "os.timerfd_gettime_ns": "0",
    "os.timerfd_settime": "0",
    "os.timerfd_settime_ns": "0",
    "os.truncate": "'/a', 0",
    "os.ttyname": "0",
    "os.umask": "0",
    "os.unlink": "'/a'",
    "os.unlockpt": "0",
    "os.unsetenv": "'a'",
    "os.unshare": "0",
    "os.urandom": "4",
    "os.utime": "'/a'",
    "os.wait3": "0",
    "os.wait4": "-1, 0",
    "os.waitid": "os.P_ALL, 0, os.WEXITED",
    "os.waitpid": "-1, 0",
    "os.waitstatus_to_exitcode": "0",
    "os.walk": "'/'",
    "os.write": "1, b''",
    "os.writev": "1, [b'']",
    "resource.getrlimit": "resource.RLIMIT_CPU",
    "resource.getrusage": "resource.RUSAGE_SELF",
    "resource.prlimit": "0, resource.RLIMIT_CPU",
    "resource.setrlimit": "resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU)",
    "signal.alarm": "1",
    "signal.default_int_handler": "2, None",
    "signal.getitimer": "signal.ITIMER_REAL",
    "signal.getsignal": "signal.SIGALRM",
    "signal.pidfd_send_signal": "0, 0",
    "signal.pthread_kill": "threading.get_ident(), 0",
    "signal.pthread_sigmask": "signal.SIG_BLOCK, [signal.SIGUSR1]",
    "signal.raise_signal": "signal.SIGWINCH",
    "signal.set_wakeup_fd": "-1",
    "signal.setitimer": "signal.ITIMER_REAL, 100",
    "signal.siginterrupt": "signal.SIGALRM, False",
    "signal.signal": "signal.SIGALRM, signal.SIG_IGN",
    "signal.sigtimedwait": "[signal.SIGUSR1], 0",
    "signal.sigwait": "[signal.SIGUSR1]",
    "signal.sigwaitinfo": "[signal.SIGUSR1]",
    "signal.strsignal": "signal.SIGALRM",
    "socket.CMSG_LEN": "1",
    "socket.CMSG_SPACE": "1",
    "socket.close": "9",
    "socket.create_connection": "('127.0.0.1', 1)",
    "socket.create_server": "('127.0.0.1', 0)",
    "socket.dup": "1",
    "socket.fromfd": "1, socket.AF_UNIX, socket.SOCK_STREAM",
    "socket.getaddrinfo": "'localhost', 1",
    "socket.gethostbyaddr": "'127.0.0.1'",
    "socket.gethostbyname": "'localhost'",
    "socket.gethostbyname_ex": "'localhost'",
    "socket.getnameinfo": "('127.0.0.1', 1), 0",
    "socket.getprotobyname": "'tcp'",
    "socket.getservbyname": "'http'",
    "socket.getservbyport": "80",
    "socket.htonl": "1",
    "socket.htons": "1",
    "socket.if_indextoname": "1",
    "socket.if_nametoindex": "'lo'",
    "socket.inet_aton": "'127.0.0.1'",
    "socket.inet_ntoa": "b'1234'",
    "socket.inet_ntop": "socket.AF_INET, b'1234'",
    "socket.inet_pton": "socket.AF_INET, '127.0.0.1'",
    "socket.ntohl": "1",
    "socket.ntohs": "1",
    "socket.recv_fds": "socket.socket(), 1, 1",
    "socket.send_fds": "socket.socket(), [b''], [1]",
    "socket.setdefaulttimeout": "1",
    "socket.sethostname": "'a'",
    "time.clock_getres": "time.CLOCK_MONOTONIC",
    "time.clock_gettime": "time.CLOCK_MONOTONIC",
    "time.clock_gettime_ns": "time.CLOCK_MONOTONIC",
    "time.clock_settime": "time.CLOCK_REALTIME, 1.0",
    "time.clock_settime_ns": "time.CLOCK_REALTIME, 1",
    "time.get_clock_info": "'time'",
    "time.mktime": "time.gmtime()",
    "time.pthread_getcpuclockid": "threading.get_ident()",
    "time.sleep": "0",
    "time.strftime": "'%d'",
    "time.strptime": "'1', '%d'",
}
# What a function needs before it returns.
BEFORE = {
    "signal.pause": """
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
""",
}

# What a function does without the call that was denied.
REVIEWED = {
    "os.closerange": ("close_range", "closes each by itself"),
    "os.getgrouplist": ("socket", "reads the file of groups, without asking a daemon"),
    "socket.getfqdn": ("socket", "says the host's own name where none can be resolved"),
    "socket.has_dualstack_ipv6": ("socket", "says False: there are no sockets"),
}

FUNCTIONS = f"""
import inspect, {", ".join(MODULES)}
[f"{{module.__name__}}.{{name}}"
 for module in ({", ".join(MODULES)})
 for name in sorted(vars(module))
 if name[0] != "_" and callable(it := getattr(module, name)) and not inspect.isclass(it)]
"""


@pytest.fixture(scope="module")
def full(jail: object) -> Iterator[JailRunner]:
    runner = JailRunner("full")
    yield runner
    runner.close()


def called(full: JailRunner, function: str) -> Ran:
    imports = f"import threading, {', '.join(MODULES)}"
    call = f"{function}({ARGUMENTS.get(function, '')})"
    return full.run(f"{imports}\n{BEFORE.get(function, '')}\n{call}")


def silent(ran: Ran) -> set[str]:
    """The calls that were denied, if the program has not heard of it."""
    return {detail for _, detail in ran.events} if ran.status == "ok" else set()


def test_no_function_is_silent(full: JailRunner) -> None:
    functions = full.run(FUNCTIONS).result
    assert len(functions) > 250
    found = {}
    for function in functions:
        ran = called(full, function)
        assert ran.status in ("ok", "exception", "killed"), (function, ran.outcome)
        error = (ran.error or {}).get("type")
        assert error != "TypeError", f"{function} needs other ARGUMENTS: {ran.reason}"
        if calls := silent(ran):
            found[function] = calls
    assert found == {function: {call} for function, (call, _) in REVIEWED.items()}


# Of fork and clone, which libc asks for with all signals blocked, nothing is recorded.
STARTING = [
    *(name for name in ARGUMENTS if name.startswith(("os.exec", "os.posix_spawn", "os.spawn"))),
    "os.fork", "os.popen", "os.system",
]  # fmt: skip


@pytest.mark.parametrize("function", STARTING)
def test_who_starts_a_process_hears_that_it_is_denied(full: JailRunner, function: str) -> None:
    ran = called(full, function)
    assert ran.error["type"] == "PermissionError", ran.outcome
    assert "other processes are not available here" in ran.error["hint"]


def test_a_silent_function_would_be_found(full: JailRunner) -> None:
    """The control: C that ignores what the kernel says."""
    ran = full.run("import ctypes\nctypes.CDLL(None).sync()")
    assert silent(ran) == {"sync"}


def test_what_is_denied_is_told_twice(full: JailRunner) -> None:
    for module in ("os", "posix"):
        ran = full.run(f"import {module}\n{module}.sync()")
        assert ran.error["type"] == "PermissionError"
        assert ran.events == {("denied", "sync")}


def test_what_is_permitted_has_its_effect(full: JailRunner) -> None:
    ran = full.run("import os\nos.getpgrp() == os.getpgid(0) >= 0")
    assert (ran.result, ran.events) == (True, set())
    ran = full.run("import os\nos.getpgid(os.getppid() or 1)")
    assert ran.error["type"] == "PermissionError"
    assert ran.events == {("denied", "getpgid")}
    ran = full.run("""
import signal
caught = []
signal.signal(signal.SIGALRM, lambda number, frame: caught.append(number))
left = signal.alarm(100), signal.alarm(0)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
while not caught:
    signal.pause()
[left, caught[0] == signal.SIGALRM]
""")
    assert (ran.result, ran.events) == ([[0, 100], True], set()), ran.outcome
