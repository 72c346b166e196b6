"""The attacks of tests/jail from native programs: each fails inside, and the same program succeeds
outside."""
# ruff: noqa: E501 programs of other languages

import os
import platform
import pty
import subprocess
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.languages.conftest import ATTACK, Ran, Run, need_language
from tests.machine import BELLJAR, BUILD, need_root

SYSCALLS = tomllib.loads((BUILD / "share/belljar/profiles/seccomp.toml").read_text())
HOSTILE = [name for entry in SYSCALLS["hostile"] for name in entry["calls"]]
ON_X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86-64")
LAYERS = ("landlock", "seccomp", "rlimits", "privileges")


def number(name: str) -> str | None:
    """Of a system call, by the headers of this machine."""
    done = subprocess.run(
        ["gcc", "-E", "-P", "-"], input=f"#include <sys/syscall.h>\nSYS_{name}",
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    last = done.stdout.strip().splitlines()[-1]
    return last if last.isdigit() else None


def assert_held(ran: Ran) -> None:
    assert "WON" not in ran.stdout, ran.outcome
    killed = ran.status == "killed" and ran.outcome["security_events"]
    assert ran.stdout == "held\n" or killed, ran.outcome


NATIVE = {
    "executable memory": (),
    "memory executable later": (),
    "memory file": (),
    "memory of the parent": (),
    "abstract socket": (),
    "int 0x80": (),
    "own text": (),
    "root": (),
    "limits of init": (),
    "device": (),
    "clone3": (hex(0x10000000),),
    "read": ("/proc/sys/kernel/hostname",),
    "write": ("/var/tmp/belljar-attack",),
}
READ = ["/etc/passwd", "/proc/1/mem", "/proc/1/environ", "/proc/1/maps", "/proc/sysrq-trigger", "/dev/mem",
        "/dev/kmsg", "/dev/tty", "/dev/vda", "/sys/kernel/uevent_seqnum", "/proc/kcore", "/proc/keys",
        "/proc/version", "/root/.bashrc"]  # fmt: skip
WRITE = ["/belljar-attack", "/usr/bin/belljar-attack", "/etc/belljar-attack", "/etc/hosts", "/dev/belljar-attack",
         "/proc/sysrq-trigger", "/proc/self/oom_score_adj"]  # fmt: skip
# AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK; SOCK_STREAM, SOCK_DGRAM, SOCK_RAW.
SOCKETS = [("1", "1", "0"), ("2", "1", "0"), ("2", "2", "0"), ("2", "3", "1"), ("10", "1", "0"),
           ("16", "3", "0"), ("17", "3", "0"), ("38", "5", "0"), ("40", "1", "0")]  # fmt: skip


@pytest.mark.parametrize("name", NATIVE)
def test_native_attacks(name: str, run: Run, outside) -> None:
    if name == "root":
        need_root("the control is root")
    assert_held(run("c", ATTACK, name, *NATIVE[name]))
    if outside(name, *NATIVE[name]) != "WON":
        pytest.skip("it does not succeed outside either")


# Of time, mounts, cgroups, UTS, IPC, users, PIDs and networks; each with one of users, which needs no root.
NAMESPACES = [0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]


@pytest.mark.parametrize("flag", NAMESPACES, ids=hex)
def test_namespaces_of_its_own(flag: int, run: Run, outside) -> None:
    # To clone the bit of time would be part of the signal.
    clone = "clone3" if flag == 0x80 else "clone"
    assert_held(run("c", ATTACK, clone, hex(flag)))
    assert_held(run("c", ATTACK, clone, hex(flag | 0x10000000)))
    if outside(clone, hex(flag | 0x10000000)) != "WON":
        pytest.skip("it does not succeed outside either")


@pytest.mark.parametrize("path", READ)
def test_reading(path: str, run: Run) -> None:
    assert_held(run("c", ATTACK, "read", path))


@pytest.mark.parametrize("path", WRITE)
def test_writing(path: str, run: Run) -> None:
    assert_held(run("c", ATTACK, "write", path))


def test_the_controls_of_reading_and_writing(run: Run, outside, tmp_path: Path) -> None:
    assert outside("read", "/etc/passwd") == "WON"
    assert outside("write", str(tmp_path / "new")) == "WON"
    assert run("c", ATTACK, "write", "new").stdout == "WON\n"
    assert run("c", ATTACK, "read", "t.c").stdout == "WON\n"


@pytest.mark.parametrize("words", SOCKETS, ids="-".join)
def test_sockets(words: tuple[str, ...], run: Run, outside) -> None:
    assert_held(run("c", ATTACK, "socket", *words))


def test_the_control_of_sockets(outside) -> None:
    assert outside("socket", "2", "1", "0") == "WON"
    assert outside("socket", "1", "1", "0") == "WON"


@pytest.mark.parametrize("pid", ["1", "-1"])
def test_killing_others(pid: str, run: Run) -> None:
    """The first process of its namespace is deaf to it, and of others there are none."""
    ran = run("c", ATTACK, "kill", pid, "9")
    assert ran.status in ("ok", "exception"), ran.outcome
    assert ran.isolation["language"] == "full"


def test_no_signal_disturbs_the_first_process(run: Run) -> None:
    """It moves the output and reports the end, so both are there."""
    ran = run("bash", "for s in {1..64}; do kill -$s 1 2> /dev/null; done; echo done; exit 3")
    assert (ran.status, ran.stdout, ran.exit_code) == ("exception", "done\n", 3), ran.outcome


def test_what_a_killed_child_leaves(run: Run) -> None:
    """A hostile call of another process than the program is not recorded (docs/languages.md)."""
    ran = run("bash", "unshare -r true; echo $?")
    assert (ran.status, ran.stdout) == ("ok", "159\n"), ran.outcome
    assert ran.outcome["security_events"] == []


@ON_X86
@pytest.mark.parametrize("name", HOSTILE)
def test_each_hostile_call_kills(name: str, run: Run) -> None:
    need_language("c")
    found = number(name)
    if found is None:
        pytest.skip("the headers do not know it")
    ran = run("c", ATTACK, "call", found)
    assert ran.status == "killed", ran.outcome
    assert [event["action"] for event in ran.outcome["security_events"]] == ["killed"]


@ON_X86
def test_no_other_call_reaches_the_kernel(run: Run) -> None:
    """Each number that no group names is refused, and so is every one of x32's."""
    allowed = {each for group in ("runtime", "files", "programs") for entry in SYSCALLS["group"][group]
               for each in entry["calls"]}  # fmt: skip
    # clone is allowed without namespaces; clone3 and sendfile are not there (ENOSYS); 335 and 336 are the kernel's own trampolines.
    known = {number(name) for name in {*allowed, *HOSTILE, "clone", "clone3", "sendfile"}}
    known = sorted(int(each) for each in known if each) + [335, 336]
    source = f"""
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main() {{
  int known[] = {{{", ".join(map(str, known))}}};
  for (long n = 0; n < 600; ++n) {{
    int is_known = 0;
    for (unsigned i = 0; i < sizeof known / sizeof *known; ++i) is_known |= known[i] == n;
    if (is_known) continue;
    errno = 0;
    if (syscall(n, -1L, -1L, -1L, -1L, -1L, -1L) != -1 || errno != EPERM) printf("%ld: %d\\n", n, errno);
  }}
  for (long n = 0x40000000; n < 0x40000230; n += 13) {{
    int pid = fork(), status = 0;
    if (pid == 0) {{ syscall(n, -1L, -1L, -1L, -1L, -1L, -1L); _exit(0); }}
    waitpid(pid, &status, 0);
    if (!WIFSIGNALED(status)) printf("x32 %lx\\n", n);
  }}
  puts("done");
}}
"""
    ran = run("c", source)
    assert (ran.status, ran.stdout) == ("ok", "done\n"), ran.outcome


# What the filter allows for some values of an argument only, with all others tried: also those that
# are an allowed one to the kernel, which reads 32 bits of it, and another to the filter.
VALUES = sorted({*range(140), *range(0x5400, 0x5480), *range(0x8900, 0x8960), *range(1020, 1045)})
HIGH = [0, 1 << 32, 1 << 63]


def allows(conditions: list[dict[str, int]], value: int) -> bool:
    return all(
        value & each.get("mask", ~0) == each["equals"] if "equals" in each else value < each["below"]
        for each in conditions
    )  # fmt: skip


def conditional() -> Iterator[tuple[str, int, list[list[dict[str, int]]]]]:
    """Calls that are allowed for values of one argument, which, and for which."""
    rules: dict[str, list[list[dict[str, int]]]] = {}
    for group in ("runtime", "files", "programs"):
        for entry in SYSCALLS["group"][group]:
            when = entry.get("when", [])
            for name in entry["calls"]:
                rules.setdefault(name, []).append(when if isinstance(when, list) else [when])
    for name, each in rules.items():
        arguments = {condition["argument"] for when in each for condition in when}
        if all(each) and len(arguments) == 1:
            yield name, arguments.pop(), each


def refused() -> Iterator[tuple[int, int, int]]:
    for name, argument, rules in conditional():
        call = number(name)
        for value in VALUES if call else ():
            if not any(allows(when, value) for when in rules):
                yield from ((int(call), argument, value | high) for high in HIGH)


TRY_EACH = """
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/syscall.h>
static const unsigned long each[][3] = {%s};
int main(void) {
  for (unsigned i = 0; i < sizeof each / sizeof *each; ++i) {
    long a[6] = {-1, -1, -1, -1, -1, -1};
    a[each[i][1]] = each[i][2];
    errno = 0;
    if (syscall(each[i][0], a[0], a[1], a[2], a[3], a[4], a[5]) != -1 || errno != EPERM)
      printf("%%lu %%lu %%lx: %%d\\n", each[i][0], each[i][1], each[i][2], errno);
  }
  puts("done");
}
"""


@ON_X86
def test_no_other_argument_reaches_the_kernel(run: Run) -> None:
    need_language("c")
    assert {"ioctl", "fcntl", "prctl", "flock", "madvise", "mprotect", "socketpair"} <= {
        name for name, *_ in conditional()
    }
    source = TRY_EACH % ", ".join(f"{{{n}, {a}, {v}ul}}" for n, a, v in refused())
    ran = run("c", source)
    assert (ran.status, ran.stdout) == ("ok", "done\n"), ran.outcome
    without = run("c", source, options=("--without", "seccomp"))
    assert len(without.stdout.splitlines()) > 1000, "the control: others do reach it"


def test_a_program_has_no_descriptor_but_its_streams(run: Run, outside, tmp_path: Path) -> None:
    assert_held(run("c", ATTACK, "descriptors"))
    with (tmp_path / "open").open("w") as more:
        assert outside("descriptors", pass_fds=[more.fileno()]) == "WON"
    listed = "for fd in /proc/self/fd/*; do readlink $fd; done"
    streams = set(run("bash", listed).stdout.splitlines())
    assert {each.split(":")[0] for each in streams} == {"pipe"}, streams


def on_a_terminal(*command: str | Path) -> str:
    """What it writes to its controlling terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(command[0], [str(word) for word in command])
    written = b""
    try:
        while piece := os.read(terminal, 4096):
            written += piece
    except OSError:  # nobody has it open any more
        pass
    os.waitpid(pid, 0)
    os.close(terminal)
    return written.decode()


def test_a_program_cannot_type_on_the_terminal(attack_program: Path) -> None:
    """Not of `belljar run` at a terminal either."""
    source = attack_program.with_suffix(".c")
    shown = on_a_terminal(BELLJAR, "run", source, "--", "terminal")
    assert "held" in shown and "WON" not in shown and "#" not in shown
    assert "WON" in on_a_terminal(attack_program, "terminal")


# What holds where one layer is missing: another one.
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    "words",
    [("write", "/usr/bin/belljar-attack"), ("read", "/etc/passwd"), ("read", "/proc/1/mem"), ("root",),
     ("clone", hex(0x20000)), ("device",), ("memory of the parent",)],
    ids=" ".join,
)  # fmt: skip
def test_with_each_layer_alone_less(layer: str, words: tuple[str, ...], run: Run) -> None:
    if layer == "seccomp" and words[0] == "memory of the parent":
        pytest.skip("of its own process: only the filter forbids it")
    assert_held(run("c", ATTACK, *words, options=("--without", layer)))


def test_two_runs_share_nothing(run: Run) -> None:
    mark = uuid.uuid4().hex
    left = run("bash", f"echo {mark} | tee left /tmp/left /dev/shm/left 2> /dev/null; ls /tmp")
    assert "left" in left.stdout
    found = run("bash", "cat left /tmp/left /dev/shm/left 2> /dev/null; ls -A /tmp; ls -A")
    assert (mark in found.stdout, found.stdout) == (False, "t.sh\n"), found.outcome


LOCKS = {
    "flock": "print flock($f, LOCK_EX | LOCK_NB) ? 'WON' : 'held';",
    "F_GETLK": "my $l = pack('s s x4 q q i x4', F_WRLCK, 0, 0, 0, 0); "
    "print fcntl($f, F_GETLK, $l) ? 'WON' : 'held';",
}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_carries_nothing_from_run_to_run(name: str, run: Run) -> None:
    """Shared locks on what everybody can read are always granted, and no others; nobody can ask."""
    need_language("perl")
    perl = f"use Fcntl qw(:DEFAULT :flock); open(my $f, '<', '/usr/bin/perl') or die; {LOCKS[name]}"
    assert run("perl", perl).stdout == "held"
    control = subprocess.run(["/usr/bin/perl", "-e", perl], capture_output=True, check=False)
    assert control.stdout == b"WON"


def test_shared_locks_are_granted(run: Run) -> None:
    perl = "use Fcntl ':flock'; open(my $f, '<', '/usr/bin/perl') or die; print flock($f, LOCK_SH) && flock($f, LOCK_UN) ? 'ok' : $!;"
    assert run("perl", perl).stdout == "ok"
