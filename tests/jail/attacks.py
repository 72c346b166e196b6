"""The attacks: programs that try to leave the jail, each with what must come of it.

An attack's body is the very same text inside and outside. It calls `won(...)` when it got what it
wanted; an OSError that ends it is reported as `held NAME`. What it needs to know of the host (a
file, a port, a process to hurt) is in HOST, system call numbers in NR; `call` is a raw system call.

    status, held, events   what a run inside ends as, exactly
    outside                where the control runs: "plain", "own" (namespaces of its own, where
                           what the attack does hurts nobody), or "nobody" (as the guest's user)
    alone                  the layers that alone stop it: with one of them left out it may succeed
    control                False where success outside would hurt, or cannot be had; says why
    machine                the only architecture that has what it uses
"""

import platform
import sys
from dataclasses import dataclass

# Everything that a body may use. `won` flushes: the worker may be dead the moment after.
PRELUDE = """
import ctypes, errno, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    ctypes.set_errno(0)
    returned = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments])
    if returned == -1 and ctypes.get_errno():
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return returned
def address(buffer):
    kept.append(buffer)
    return ctypes.addressof(buffer)
def text(value):
    return address(ctypes.create_string_buffer(os.fsencode(value)))
kept = []
def won(*what):
    print("WON", *what, flush=True)
def held(error):
    print("held", errno.errorcode.get(error.errno, error.errno), flush=True)
"""

FRAME = """
try:
{body}
except OSError as error:
    held(error)
"""

ALL_LAYERS = ("namespaces", "privileges", "rlimits", "landlock", "seccomp")


@dataclass(frozen=True)
class Attack:
    name: str
    body: str
    held: str | tuple[str, ...] | None = None  # the error names that it prints, in order
    denied: tuple[str, ...] = ()  # system calls in security_events
    status: str = "ok"
    reason: str | None = None  # error.message, exactly
    outside: str = "plain"
    alone: tuple[str, ...] = ()
    control: bool = True
    victim: bool = False  # needs a process that may be killed
    machine: str | None = None
    # So that what is left may be too little to report with: then it ends with memory_limit.
    fills_memory: bool = False

    def __str__(self):
        return self.name


# Every number that there is or may come to be, but `known`; what the kernel does not know is ENOSYS
# to it, so that EPERM tells the filter from the kernel.
EVERY_OTHER_CALL = """
for number in [n for n in range(1200) if n not in {known}] + [0x3fffffff]:
    try:
        won(number, call(number, -1, -1, -1, -1, -1, -1))
    except OSError as error:
        if error.errno != errno.EPERM:
            won(number, error)
print("done")
"""

HOSTILE = "killed for a hostile system call"


def denied(name, body, *calls, held="EPERM", **more):
    """The filter turns it into EPERM."""
    return Attack(name, body, held=held, denied=calls, **more)


def hostile(name, body, **more):
    """The filter kills."""
    more.setdefault("outside", "own")
    return Attack(name, body, status="killed", reason=HOSTILE, **more)


# --- reading the host -----------------------------------------------------------------------------

READING = [
    Attack("read_passwd", "won(open('/etc/passwd').readline())", held="ENOENT"),
    Attack("read_canary_in_tmp", "won(open(HOST['canary']).read())", held="ENOENT"),
    Attack("read_home_of_root", "won(os.listdir(HOST['home']))", held="ENOENT"),
    Attack(
        "read_environment_of_init",
        "won(open('/proc/1/environ', 'rb').read(1))",
        held="ENOENT",
        outside="own",
    ),
    Attack("read_command_line_of_init", "won(open('/proc/1/cmdline').read())", held="ENOENT"),
    Attack("walk_proc_self_root", "won(os.listdir('/proc/self/root/etc'))", held="ENOENT"),
    Attack("read_own_maps", "won(open('/proc/self/maps').readline())", held="ENOENT"),
    Attack("read_own_memory", "won(open('/proc/self/mem', 'rb'))", held="ENOENT"),
    Attack("list_descriptors", "won(os.listdir('/proc/self/fd'))", held="ENOENT"),
    Attack("list_sys", "won(os.listdir('/sys/kernel'))", held="ENOENT"),
    Attack("read_kernel_symbols", "won(open('/proc/kallsyms').readline())", held="ENOENT"),
    Attack("read_device", "won(open('/dev/full', 'rb').read(1))", held="ENOENT"),
    Attack("read_shared_memory", "won(os.listdir('/dev/shm'))", held="ENOENT"),
    Attack("list_root", "won(os.listdir('/'))", held="EACCES", alone=("landlock",)),
    Attack("list_usr", "won(os.listdir('/usr'))", held="EACCES", alone=("landlock",)),
    Attack(
        "list_processes",
        "won([name for name in os.listdir('/proc') if name.isdigit()])",
        held="ENOENT",
    ),
    Attack(
        "stat_processes",
        """
for pid in range(2, 100_000):
    if os.path.exists(f'/proc/{pid}'):
        won(pid)
        break
""",
        alone=("namespaces",),  # Landlock does not restrict stat
    ),
    Attack("stat_passwd", "won(os.stat('/etc/passwd'))", held="ENOENT", alone=("namespaces",)),
    Attack(
        "read_symlink", "won(os.readlink(HOST['symlink']))", held="ENOENT", alone=("namespaces",)
    ),
    Attack("follow_symlink", "won(open(HOST['symlink']).read())", held="ENOENT"),
    Attack(
        "walk_up_from_the_library",
        """
library = os.open(HOST['library'], os.O_RDONLY | os.O_DIRECTORY)
for steps in (3, 64):
    try:
        won(os.open('../' * steps + 'etc/passwd', os.O_RDONLY, dir_fd=library))
    except OSError as error:
        held(error)
up = os.open('..', os.O_PATH, dir_fd=library)
for step in range(8):
    up = os.open('..', os.O_PATH, dir_fd=up)
won(os.open('etc/passwd', os.O_RDONLY, dir_fd=up))
""",
        held=("ENOENT", "ENOENT", "ENOENT"),
    ),
    Attack(
        "open_as_a_path_then_read",
        """
etc = os.open('/etc', os.O_PATH)
won(os.open('passwd', os.O_RDONLY, dir_fd=etc))
""",
        held="ENOENT",
    ),
    Attack(
        "read_environment",
        "won(os.environ['BELLJAR_TEST_SECRET']) if 'BELLJAR_TEST_SECRET' in os.environ else 0",
    ),
    Attack(
        "read_environment_of_libc",
        """
libc.getenv.restype = ctypes.c_char_p
if libc.getenv(b'BELLJAR_TEST_SECRET'):
    won()
""",
    ),
    Attack(
        "learn_the_host_name",
        "won() if HOST['host_name'] in (socket.gethostname(), os.uname().nodename) else 0",
        alone=("namespaces",),
    ),
    denied(
        "open_by_handle",
        """
handle = ctypes.create_string_buffer(136)
ctypes.c_uint.from_buffer(handle).value = 128
mount = ctypes.c_int()
call(NR['name_to_handle_at'], -100, text('/usr'), address(handle), address(mount), 0)
won(call(NR['open_by_handle_at'], os.open('/', os.O_RDONLY), address(handle), os.O_RDONLY))
""",
        status="killed",
        reason=HOSTILE,
        held=None,
        outside="own",
    ),
]

# --- writing --------------------------------------------------------------------------------------

WRITING = [
    Attack(
        "write_in_every_directory",
        """
seen = set()
for folder in HOST['folders']:
    for way in (os.O_CREAT | os.O_WRONLY, os.O_TMPFILE | os.O_WRONLY):
        name = folder if way & os.O_TMPFILE == os.O_TMPFILE else folder + '/belljar-attack'
        try:
            os.open(name, way, 0o600)
            won(folder)
        except OSError as error:
            seen.add(errno.errorcode[error.errno])
print('held', *sorted(seen))
""",
        held="*",
    ),
    Attack("open_library_for_writing", "won(open(HOST['library_file'], 'r+b'))", held="EACCES"),
    Attack("append_to_library", "won(open(HOST['library_file'], 'ab'))", held="EACCES"),
    denied("truncate_library", "won(os.truncate(HOST['spoil'], 0))", "truncate"),
    denied("unlink", "won(os.unlink(HOST['spoil']))", "unlink"),
    denied("rename", "won(os.rename(HOST['spoil'], HOST['spoil'] + '2'))", "rename"),
    denied("make_directory", "won(os.mkdir(HOST['spoil'] + '.d'))", "mkdir"),
    denied(
        "hard_link",
        "won(os.link(HOST['spoil'], HOST['spoil'] + '.l'))",
        "link" if sys.version_info < (3, 14) else "linkat",
    ),
    denied("symbolic_link", "won(os.symlink('/etc/passwd', HOST['spoil'] + '.s'))", "symlink"),
    denied("change_mode", "won(os.chmod(HOST['spoil'], 0o4777))", "chmod"),
    denied("change_owner", "won(os.chown(HOST['spoil'], 0, 0))", "chown"),
    denied("change_times", "won(os.utime(HOST['spoil'], (1, 1)))", "utimensat"),
    denied("make_fifo", "won(os.mkfifo(HOST['spoil'] + '.p'))", "mknodat"),
    denied(
        "make_device",
        "won(os.mknod(HOST['spoil'] + '.m', 0o20666, os.makedev(1, 3)))",
        "mknodat",
    ),
    denied(
        "set_attribute",
        "won(os.setxattr(HOST['spoil'], 'user.a', b'1'))",
        "setxattr",
        control=False,
    ),  # tmpfs of older kernels knows no user attributes
    denied("memory_file", "won(os.memfd_create('a'))", "memfd_create", alone=("seccomp",)),
    denied(
        "fill_the_disk",
        """
fd = os.open(HOST['scratch'] + '/big', os.O_CREAT | os.O_WRONLY)
won(os.write(fd, b'x' * 4096))
""",
        held="ENOENT",
    ),
    denied(
        "lock_files_of_others",
        "import fcntl; fcntl.flock(os.open(HOST['library_file'], os.O_RDONLY), 2); won()",
        "flock",
        alone=("seccomp",),
    ),
    denied(
        "watch_files",
        "call(NR['inotify_init1'], 0); won()",
        "inotify_init1",
        alone=("seccomp",),
    ),
    Attack(
        "change_directory",
        "os.chdir('/'); won()",
        held="EPERM",
        denied=("chdir",),
        alone=("seccomp",),
    ),
]

# --- the network ----------------------------------------------------------------------------------

NETWORK = [
    denied(
        "connect_to_loopback",
        """
import _socket  # the network tier's socket.socket asks the egress proxy
client = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
client.connect(('127.0.0.1', HOST['port']))
won()
""",
        "socket",
    ),
    denied(
        "connect_to_abstract_socket",
        """
with socket.socket(socket.AF_UNIX) as client:
    client.connect(HOST['abstract'])
    won()
""",
        "socket",
    ),
    denied(
        "connect_to_named_socket",
        """
with socket.socket(socket.AF_UNIX) as client:
    client.connect(HOST['named_socket'])
    won()
""",
        "socket",
    ),
    denied(
        "send_a_datagram",
        """
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    won(client.sendto(b'x', ('127.0.0.1', HOST['port'])))
""",
        "socket",
    ),
    denied(
        "listen",
        """
with socket.socket() as server:
    server.bind(('127.0.0.1', 0)); server.listen()
    won(socket.create_connection(server.getsockname(), timeout=2))
""",
        "socket",
    ),
    denied(
        "raw_socket",
        "won(socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))",
        "socket",
    ),
    denied(
        "packet_socket",
        "won(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3))",
        "socket",
    ),
    denied(
        "netlink_socket",
        "won(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))",
        "socket",
        alone=("seccomp",),
    ),
    denied(
        "vsock",
        "won(socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))",
        "socket",
        alone=("seccomp",),
        control=False,  # a kernel module that few machines have
    ),
    denied("socket_pair", "won(socket.socketpair())", "socketpair", alone=("seccomp",)),
    denied("pipe", "won(os.pipe())", "pipe2", alone=("seccomp",)),
]

# --- other processes ------------------------------------------------------------------------------
#
# The attacks run with the policy off, where there are threads: RLIMIT_NPROC leaves room for them
# and bounds both, so that only the filter refuses other processes.

PROCESSES = [
    denied(
        "fork",
        """
child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
won()
""",
        "clone",
        alone=("seccomp",),
    ),
    denied(
        "fork_bomb",
        """
made = 0
for attempt in range(200):
    try:
        child = os.fork()
    except OSError as error:
        last = error
        continue
    if child == 0:
        os._exit(0)
    made += 1
if made:
    won(made)
else:
    raise last
""",
        "clone",
        outside="own",
        alone=("seccomp",),
    ),
    denied(
        "thread_bomb",
        """
import threading, time
threading.stack_size(256 << 10)
made = 0
try:
    while made < 1000:
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
        made += 1
except RuntimeError:
    pass
# In a user namespace of its own there can be exactly 127 beside the first.
print('held RuntimeError') if made < 128 else won(made)
""",
        held="RuntimeError",
        alone=("rlimits",),
    ),
    denied(
        "clone_raw",
        """
child = call(NR['clone'], signal.SIGCHLD, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
won()
""",
        "clone",
        alone=("seccomp",),
    ),
    denied(
        "clone3_raw",
        """
arguments = (ctypes.c_uint64 * 11)()
arguments[4] = signal.SIGCHLD
child = call(NR['clone3'], address(arguments), 88)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
won()
""",
        held="ENOSYS",  # the filter cannot read its flags; libc then uses clone
        alone=("seccomp",),
    ),
    denied(
        "clone_with_new_namespaces",
        """
child = call(NR['clone'], 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
won()
""",
        "clone",
        alone=("seccomp",),
    ),
    # No control: a vfork that returns through ctypes ruins the stack of its parent.
    denied(
        "vfork_raw",
        "won(call(NR['vfork']))",
        "vfork",
        control=False,
        alone=("seccomp",),
        machine="x86_64",
    ),
    # By fork: since 3.13 the library takes posix_spawn where nothing runs in between.
    denied(
        "subprocess",
        "import subprocess; won(subprocess.run(['/bin/echo'], preexec_fn=int))",
        "pipe2",
    ),
    denied(
        "multiprocessing",
        """
import multiprocessing
process = multiprocessing.get_context('fork').Process(target=won)
process.start(); process.join()
""",
        "pipe2",
        alone=("seccomp",),
    ),
    denied("execute", "os.execv('/bin/echo', ['echo', 'WON'])", "execve"),
    denied(
        "execute_at",
        """
arguments = (ctypes.c_char_p * 3)(b'/bin/echo', b'WON', None)
call(NR['execveat'], -100, text('/bin/echo'), address(arguments), 0, 0)
""",
        "execveat",
    ),
    denied("kill_a_process", "os.kill(HOST['victim'], signal.SIGTERM); won()", "kill", victim=True),
    denied("kill_a_group", "os.killpg(HOST['victim'], signal.SIGTERM); won()", "kill", victim=True),
    denied("probe_a_process", "os.kill(HOST['victim'], 0); won()", "kill", victim=True),
    denied(
        "kill_everything",
        "os.kill(-1, signal.SIGTERM); won()",
        "kill",
        outside="own",
        victim=True,
    ),
    denied("kill_own_group", "os.kill(0, 0); won()", "kill", alone=("seccomp",)),
    denied("kill_parent", "os.kill(os.getppid(), 0); won()", "kill", alone=("seccomp",)),
    denied(
        "kill_neighbours",
        """
for pid in range(2, 2000):
    try:
        os.kill(pid, 0)
        won(pid)
        break
    except OSError as error:
        last = error
else:
    raise last
""",
        "kill",
    ),
    denied(
        "kill_a_thread",
        "call(NR['tgkill'], HOST['victim'], HOST['victim'], 15); won()",
        "tgkill",
        victim=True,
    ),
    denied("kill_a_task", "call(NR['tkill'], HOST['victim'], 15); won()", "tkill", victim=True),
    denied(
        "queue_a_signal",
        """
information = ctypes.create_string_buffer(128)
ctypes.c_int.from_buffer(information, 8).value = -1
call(NR['rt_sigqueueinfo'], HOST['victim'], 15, address(information)); won()
""",
        "rt_sigqueueinfo",
        victim=True,
    ),
    denied("open_a_process", "won(os.pidfd_open(HOST['victim']))", "pidfd_open", victim=True),
    denied(
        "signal_through_pidfd",
        "call(NR['pidfd_send_signal'], 0, 15, 0, 0); won()",
        "pidfd_send_signal",
        control=False,  # takes a pidfd, which is refused above
    ),
    denied(
        "slow_down_a_process",
        "os.setpriority(os.PRIO_PROCESS, HOST['victim'], 5); won()",
        "setpriority",
        victim=True,
    ),
    denied(
        "pin_a_process",
        "os.sched_setaffinity(HOST['victim'], {0}); won()",
        "sched_setaffinity",
        victim=True,
    ),
    denied(
        "schedule_a_process",
        "os.sched_setscheduler(HOST['victim'], os.SCHED_BATCH, os.sched_param(0)); won()",
        "sched_setscheduler",
        victim=True,
    ),
    denied(
        "ioprio_of_a_process",
        "call(NR['ioprio_set'], 1, HOST['victim'], (2 << 13) | 7); won()",
        "ioprio_set",
        victim=True,
    ),
    denied(
        "limit_a_process",
        """
limits = (ctypes.c_uint64 * 2)(3, 3)
call(NR['prlimit64'], HOST['victim'], 7, address(limits), 0)
won()
""",
        "prlimit64",
        outside="nobody",
        victim=True,
    ),
    Attack(
        "affinity_of_a_process",
        "won(os.sched_getaffinity(HOST['victim']))",
        held="ESRCH",
        victim=True,
        alone=("namespaces",),
    ),
    hostile(
        "trace_a_process",
        "call(NR['ptrace'], 0x4206, HOST['victim'], 0, 0); won()",
        outside="plain",
        victim=True,
    ),
    hostile(
        "trace_me",
        "call(NR['ptrace'], 0, 0, 0, 0); won()",
        alone=("seccomp",),
    ),
    hostile(
        "read_memory_of_a_process",
        """
buffer = ctypes.create_string_buffer(8)
local = (ctypes.c_uint64 * 2)(address(buffer), 8)
remote = (ctypes.c_uint64 * 2)(HOST['victim_address'], 8)
won(call(NR['process_vm_readv'], HOST['victim'], address(local), 1, address(remote), 1, 0))
""",
        outside="plain",
        victim=True,
    ),
    hostile(
        "compare_with_a_process",
        "won(call(NR['kcmp'], HOST['victim'], os.getpid(), 1, 0, 0))",
        outside="plain",
        victim=True,
    ),
    denied("new_session", "won(os.setsid())", "setsid", outside="own", alone=("seccomp",)),
    denied("new_group", "won(os.setpgid(0, 0))", "setpgid", outside="own", alone=("seccomp",)),
]

# --- privilege ------------------------------------------------------------------------------------

PRIVILEGE = [
    denied("become_root", "os.setuid(0); won()", "setuid"),
    denied("become_root_for_real", "os.setresuid(0, 0, 0); won()", "setresuid"),
    denied("become_root_group", "os.setgid(0); won()", "setgid"),
    denied("become_another", "os.setresuid(1, 1, 1); won()", "setresuid"),
    denied("take_groups", "os.setgroups([0, 1]); won()", "setgroups"),
    denied(
        "take_capabilities",
        """
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
sets = (ctypes.c_uint32 * 6)(1 << 21, 1 << 21, 0, 0, 0, 0)
call(NR['capset'], address(header), address(sets)); won()
""",
        "capset",
    ),
    denied(
        "become_dumpable", "call(NR['prctl'], 4, 1, 0, 0, 0); won()", "prctl", alone=("seccomp",)
    ),
    denied(
        "outlive_the_host", "call(NR['prctl'], 1, 0, 0, 0, 0); won()", "prctl", alone=("seccomp",)
    ),
    # No control: nobody may unset it, root neither.
    denied(
        "unset_no_new_privs", "call(NR['prctl'], 38, 0, 0, 0, 0); won()", "prctl", control=False
    ),
    denied(
        "segment_base",
        "call(NR['arch_prctl'], 0x1003, text('12345678')); won()",
        "arch_prctl",
        alone=("seccomp",),
        machine="x86_64",
    ),
    hostile(
        "mount",
        "call(NR['mount'], text('a'), text('/tmp'), text('tmpfs'), 0, 0); won()",
    ),
    hostile(
        "mount_by_the_new_calls",
        """
context = call(NR['fsopen'], text('tmpfs'), 0)
call(NR['fsconfig'], context, 6, 0, 0, 0)
won(call(NR['fsmount'], context, 0, 0))
""",
    ),
    hostile("unmount", "call(NR['umount2'], text('/proc'), 2); won()"),
    hostile("change_root", "call(NR['chroot'], text('/usr')); won()"),
    hostile(
        "pivot_root",
        """
call(NR['mount'], text('a'), text('/mnt'), text('tmpfs'), 0, 0)
os.chdir('/mnt')
call(NR['pivot_root'], text('.'), text('.')); won()
""",
    ),
    hostile("clone_a_mount", "won(call(NR['open_tree'], -100, text('/'), 1))"),
    hostile("new_mount_namespace", "call(NR['unshare'], 0x00020000); won()"),
    hostile("new_network_namespace", "call(NR['unshare'], 0x40000000); won()"),
    hostile("new_user_namespace", "call(NR['unshare'], 0x10000000); won()", alone=("seccomp",)),
    hostile(
        "enter_a_namespace",
        """
try:
    namespace = os.open('/proc/1/ns/net', os.O_RDONLY)
except OSError:
    namespace = 0
call(NR['setns'], namespace, 0); won()
""",
    ),
    hostile("set_the_host_name", "call(NR['sethostname'], text('x'), 1); won()"),
    hostile(
        "io_uring",
        "won(call(NR['io_uring_setup'], 4, address(ctypes.create_string_buffer(120))))",
        alone=("seccomp",),
    ),
    hostile(
        "bpf_map",
        """
attributes = (ctypes.c_uint32 * 32)(2, 4, 4, 1)
won(call(NR['bpf'], 0, address(attributes), 128))
""",
        alone=("seccomp",),
    ),
    hostile(
        "perf_event",
        """
attributes = (ctypes.c_uint32 * 32)(1, 112)
ctypes.c_uint64.from_buffer(attributes, 40).value = 1 << 5 | 1 << 6
won(call(NR['perf_event_open'], address(attributes), 0, -1, -1, 0))
""",
        alone=("seccomp",),
    ),
    hostile("userfaultfd", "won(call(NR['userfaultfd'], 1))", alone=("seccomp",)),
    hostile(
        "add_a_key",
        "won(call(NR['add_key'], text('user'), text(HOST['key']), text('x'), 1, -2))",
        alone=("seccomp",),
    ),
    hostile("join_a_keyring", "won(call(NR['keyctl'], 1, 0, 0, 0, 0))", alone=("seccomp",)),
    hostile("personality", "won(call(NR['personality'], 0x0400000))", alone=("seccomp",)),
    hostile(
        "filter_itself",
        "won(call(NR['seccomp'], 2, 0, address(ctypes.c_uint32(0x7fff0000))))",
        alone=("seccomp",),
    ),
]

# --- memory that becomes code, and the filter itself ----------------------------------------------

CODE = [
    denied(
        "executable_mapping",
        "import mmap; won(mmap.mmap(-1, 4096, prot=7))",
        "mmap",
        alone=("seccomp",),
    ),
    denied(
        "executable_mapping_with_high_bits",
        "won(call(NR['mmap'], 0, 4096, 5 | 1 << 32, 0x22, -1, 0))",
        "mmap",
        alone=("seccomp",),
    ),
    denied(
        "make_executable",
        """
page = call(NR['mmap'], 0, 4096, 3, 0x22, -1, 0)
won(call(NR['mprotect'], page, 4096, 5))
""",
        "mprotect",
        alone=("seccomp",),
    ),
    denied(
        "make_executable_by_key",
        """
page = call(NR['mmap'], 0, 4096, 3, 0x22, -1, 0)
won(call(NR['pkey_mprotect'], page, 4096, 5, -1))
""",
        "pkey_mprotect",
        alone=("seccomp",),
        control=platform.machine() == "x86_64",  # others have no such keys
    ),
    denied(
        "attach_executable",
        """
segment = call(NR['shmget'], 0, 4096, 0o1700)
won(call(NR['shmat'], segment, 0, 0o100000))
""",
        "shmget",
        outside="own",
        alone=("seccomp",),
    ),
    denied(
        "map_a_library_executable",
        """
import mmap
library = os.open(HOST['library_file'], os.O_RDONLY)
won(call(NR['mmap'], 0, 4096, 5, 2, library, 0))
""",
        "mmap",
        alone=("seccomp",),
    ),
    denied(
        "replace_the_denial_handler",
        """
action = (ctypes.c_uint64 * 4)(1)
call(NR['rt_sigaction'], 31, address(action), 0, 8); won()
""",
        "rt_sigaction",
        alone=("seccomp",),
    ),
    denied(
        "replace_it_through_high_bits",
        """
action = (ctypes.c_uint64 * 4)(1)
call(NR['rt_sigaction'], 31 | 1 << 32, address(action), 0, 8); won()
""",
        "rt_sigaction",
        alone=("seccomp",),
    ),
    denied(
        "replace_it_through_python",
        "signal.signal(signal.SIGSYS, signal.SIG_IGN); won()",
        "rt_sigaction",
        alone=("seccomp",),
    ),
    Attack(
        "block_the_denial_signal",
        """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGSYS])
won(os.pipe())
""",
        status="killed",
        reason=HOSTILE,
        alone=("seccomp",),
    ),
    # Outside, the kernel knows no such number: it answers ENOSYS, and that is enough to have won.
    Attack(
        "x32_numbers",
        """
try:
    call(NR['getpid'] | 0x40000000)
    won()
except OSError as error:
    won() if error.errno == errno.ENOSYS else held(error)
""",
        status="killed",
        reason=HOSTILE,
        alone=("seccomp",),
        machine="x86_64",
    ),
    denied(
        "set_a_timer",
        # By its number: setitimer(), which programs may call, ends with the process.
        "won(call(NR['timerfd_create'], 1, 0) >= 0)",
        "timerfd_create",
        alone=("seccomp",),
    ),
    denied(
        "signal_descriptor",
        "won(call(NR['signalfd4'], -1, text('        '), 8, 0))",
        "signalfd4",
        alone=("seccomp",),
    ),
]

# --- limits ---------------------------------------------------------------------------------------

LIMITS = [
    Attack(
        "raise_limits",
        """
names = 'CPU FSIZE DATA STACK CORE RSS NPROC NOFILE MEMLOCK AS LOCKS SIGPENDING MSGQUEUE'.split()
unlimited = (ctypes.c_uint64 * 2)(2**64 - 1, 2**64 - 1)
for name in ('AS', 'CPU', 'FSIZE', 'NOFILE', 'NPROC', 'CORE', 'MEMLOCK', 'MSGQUEUE', 'SIGPENDING'):
    try:
        call(NR['setrlimit'], names.index(name), address(unlimited))
        won(name)
    except OSError as error:
        held(error)
""",
        held=("EPERM",) * 9,
        alone=("rlimits",),
    ),
    denied(
        "priority",
        "os.setpriority(os.PRIO_PROCESS, 0, -5); won()",
        "setpriority",
    ),
    Attack(
        "anonymous_memory",
        "import mmap; won(mmap.mmap(-1, 1 << 30))",
        held="ENOMEM",
        alone=("rlimits",),
    ),
    Attack(
        "shared_memory",
        """
import mmap
blocks = []
while len(blocks) < 64:
    blocks.append(mmap.mmap(-1, 8 << 20, mmap.MAP_SHARED))
    blocks[-1][::4096] = b'x' * 2048
won()
""",
        held="ENOMEM",
        alone=("rlimits",),
        fills_memory=True,
    ),
    Attack(
        "heap_by_hand",
        """
libc.malloc.restype = ctypes.c_void_p
got = 0
while got < 512 and libc.malloc(ctypes.c_size_t(1 << 20)):
    got += 1
won(got) if got == 512 else print('held', 'NULL')
""",
        held="NULL",
        alone=("rlimits",),
        fills_memory=True,
    ),
    Attack(
        "move_the_break",
        """
libc.sbrk.restype = ctypes.c_void_p
moved = libc.sbrk(ctypes.c_ssize_t(1 << 29))
won() if moved != ctypes.c_void_p(-1).value else print('held', 'NULL')
""",
        held="NULL",
        alone=("rlimits",),
    ),
    Attack(
        "grow_a_mapping",
        """
page = call(NR['mmap'], 0, 4096, 3, 0x22, -1, 0)
won(call(NR['mremap'], page, 4096, 1 << 30, 1, 0))
""",
        held="ENOMEM",
        alone=("rlimits",),
    ),
    Attack(
        "lock_memory",
        "call(NR['mlockall'], 1); won()",
        held="EPERM",
        denied=("mlockall",),
    ),
    Attack(
        "many_files",
        "files = [open(HOST['library_file']) for each in range(500)]; won()",
        held="EMFILE",
        alone=("rlimits",),
    ),
]

ATTACKS = [
    attack
    for attack in [*READING, *WRITING, *NETWORK, *PROCESSES, *PRIVILEGE, *CODE, *LIMITS]
    if attack.machine in (None, platform.machine())
]
