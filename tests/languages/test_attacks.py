"""The attacks of tests/jail from native programs, Node.js and Bash: each fails inside, and the same
program succeeds outside."""
# ruff: noqa: E501 programs of other languages

import platform
import subprocess
import tomllib
import uuid
from pathlib import Path

import pytest

from tests.clocks import until
from tests.languages.conftest import ATTACK, Ran, Run, end, need_language, processes_with
from tests.machine import BUILD, need_root

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
    "clone": (hex(0x10000000 | 0x20000),),  # a user namespace and one of mounts
    "clone3": (hex(0x10000000),),
    "read": ("/proc/sys/kernel/hostname",),
    "write": ("/var/tmp/belljar-attack",),
}
READ = ["/etc/passwd", "/proc/1/mem", "/proc/1/environ", "/proc/1/maps", "/proc/sysrq-trigger", "/dev/mem",
        "/dev/kmsg", "/dev/tty", "/dev/vda", "/sys/kernel/uevent_seqnum", "/proc/kcore", "/proc/keys",
        "/proc/version", "/root/.bashrc"]  # fmt: skip
WRITE = ["/belljar-attack", "/usr/bin/belljar-attack", "/etc/belljar-attack", "/dev/shm/belljar-attack",
         "/dev/belljar-attack", "/proc/sysrq-trigger", "/proc/self/oom_score_adj"]  # fmt: skip
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
    # clone is allowed without namespaces; 335 and 336 are the kernel's own trampolines.
    known = {number(name) for name in {*allowed, *HOSTILE, "clone", "clone3"}}
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


NODE = {
    "a socket": "require('net').createServer().listen(0, function () { console.log('WON'); this.close() }).on('error', () => console.log('held'))",
    "a connection": "require('net').connect(22, '127.0.0.1').on('error', e => console.log(e.code == 'EPERM' ? 'held' : 'WON'))",
    "the inspector": "try { require('inspector').open(0); console.log(require('inspector').url() ? 'WON' : 'held') } catch { console.log('held') }",
    "process.binding": "const r = process.binding('spawn_sync').spawn({file: '/usr/bin/id', args: ['id'], stdio: [{type: 'pipe', readable: true}, {type: 'pipe', writable: true}]}); console.log(r.error ? 'held' : 'WON')",
    "child_process": "console.log(require('child_process').spawnSync('/bin/sh', ['-c', 'id']).error ? 'held' : 'WON')",
    "an addon": "try { process.dlopen({exports: {}}, '/workspace/addon.node'); console.log('WON') } catch (e) { console.log(globalThis.ran || String(e).includes('did not self-register') ? 'WON' : 'held') }",
    "a file": "try { require('fs').writeFileSync('/usr/share/nodejs/x', ''); console.log('WON') } catch { console.log('held') }",
}


@pytest.mark.parametrize("name", NODE)
def test_node(name: str, run: Run, tmp_path: Path) -> None:
    need_language("javascript")
    options: tuple[str | Path, ...] = ()
    if name == "an addon":
        (tmp_path / "addon.c").write_text("int belljar_addon = 1;")
        subprocess.run(["gcc", "-shared", "-o", "addon.node", "addon.c"], cwd=tmp_path, check=True)
        options = ("--file", tmp_path / "addon.node")
    ran = run("javascript", NODE[name], options=options)
    assert ran.stdout == "held\n", ran.outcome
    source = (
        NODE[name]
        .replace("/workspace", str(tmp_path))
        .replace("/usr/share/nodejs/x", str(tmp_path / "x"))
    )
    control = subprocess.run(
        ["/usr/bin/node", "-e", source], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert "WON" in control.stdout, control


def test_node_threads_and_wasm_work_and_stay_inside(run: Run) -> None:
    source = """
const { Worker, isMainThread, parentPort } = require("worker_threads");
if (isMainThread) {
  const bytes = Buffer.from("0061736d01000000010401600000030201000a040102000b", "hex");
  const wasm = WebAssembly.validate(bytes);
  new Worker(__filename).on("message", m => console.log(m, wasm));
} else {
  try { require("fs").readFileSync("/etc/passwd"); parentPort.postMessage("WON"); }
  catch { parentPort.postMessage("held"); }
}
"""
    ran = run("javascript", source)
    assert ran.stdout == "held true\n", ran.outcome


BASH = {
    "/dev/tcp": "exec 3<> /dev/tcp/127.0.0.1/22 && echo WON || echo held",
    "/dev/udp": "exec 3<> /dev/udp/127.0.0.1/53 && echo WON || echo held",
    "a program of its own": "cp /usr/bin/true /tmp/t && chmod +x /tmp/t && /tmp/t && echo WON || echo held",
    "the linker": "cp /usr/bin/true /tmp/t; /lib64/ld-linux-x86-64.so.2 /tmp/t && echo WON || echo held",
    "su": "su -c id && echo WON || echo held",
    "mount": "mount -t tmpfs none /tmp && echo WON || echo held",
    "unshare": "unshare -Ur id && echo WON || echo held",
    "the root of the first process": "ls /proc/1/root/etc/passwd && echo WON || echo held",
    "a set-uid copy": "cp /usr/bin/id /tmp/i; chmod 4755 /tmp/i; /tmp/i && echo WON || echo held",
}


@pytest.mark.parametrize("name", BASH)
def test_bash(name: str, run: Run) -> None:
    assert run("bash", BASH[name]).stdout.endswith("held\n")


def test_coproc_works(run: Run) -> None:
    assert (
        run("bash", "coproc cat; echo in >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x").stdout
        == "in\n"
    )


def test_every_program_of_the_machine_started_once(run: Run) -> None:
    """Whatever they do, they do it inside, and all of them end."""
    mark = uuid.uuid4().hex
    source = """
ls /usr/bin | xargs -P 8 -I{} timeout -s KILL 0.2 {} --help < /dev/null > /dev/null 2>&1
id -u
"""
    ran = run("bash", source, options=("--timeout", "60", "--cpu", "60", "--env", f"MARK={mark}"))
    assert ran.status in ("ok", "timeout", "cpu_limit", "memory_limit"), ran.outcome
    assert ran.stdout == ("65534\n" if ran.status == "ok" else ""), ran.outcome
    try:
        until(lambda: not processes_with(mark), lambda: f"left: {processes_with(mark)}")
    finally:
        end(processes_with(mark))
