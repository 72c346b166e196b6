"""Runs attacks: inside the jail by the real command, and the same text outside as the control."""

import ctypes
import ctypes.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clocks import HANG, SLOWNESS
from tests.jail.attacks import FRAME, PRELUDE, Attack
from tests.machine import cannot

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BELLJAR = Path(os.environ.get("BELLJAR_BUILD", ROOT / "build/release")) / "belljar"
# Where tools/containers starts one.
ENGINE_SOCKET = Path(
    os.environ.get("BELLJAR_DOCKER_SOCKET", BELLJAR.parents[1] / "containers/docker.sock")
).resolve()
PYTHON = os.environ.get("BELLJAR_PYTHON", "/usr/bin/python3")
PROFILE = HERE / "attack.toml"
LONGEST = 30  # in attack.toml
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
SECRET = "0b5e-the-host's-own"


def slowly(seconds: float) -> float:
    """A limit of time for `belljar run`, on this machine."""
    return min(seconds * SLOWNESS, LONGEST)


# --- system call numbers --------------------------------------------------------------------------


class Numbers(dict):
    """Name -> number, as libseccomp knows them."""

    library = ctypes.CDLL(ctypes.util.find_library("seccomp") or "libseccomp.so.2")

    def __missing__(self, name):
        number = self.library.seccomp_syscall_resolve_name(name.encode())
        assert number >= 0, f"this architecture has no system call named {name}"
        self[name] = number
        return number

    def has(self, name: str) -> bool:
        """Whether this architecture has the call: all names here are known on some."""
        number = self.library.seccomp_syscall_resolve_name(name.encode())
        assert number != -1, f"no system call is named {name}"
        return number >= 0


NUMBERS = Numbers()

# What C libraries call where the architecture is newer than the call.
INSTEAD = {
    "alarm": "setitimer",
    "chmod": "fchmodat",
    "chown": "fchownat",
    "link": "linkat",
    "mkdir": "mkdirat",
    "rename": "renameat",
    "symlink": "symlinkat",
    "unlink": "unlinkat",
}


def denials(names: Iterable[str]) -> set[tuple[str, str]]:
    """The security events that tell that these calls were denied."""
    return {("denied", name if NUMBERS.has(name) else INSTEAD[name]) for name in names}


def program(body: str, host: dict) -> str:
    """What is run, inside and outside."""
    numbers = {name: NUMBERS[name] for name in re.findall(r"NR\['(\w+)'\]", body)}
    frame = FRAME.format(body=textwrap.indent(body.strip("\n"), "    "))
    return f"{PRELUDE}\nNR = {numbers!r}\nHOST = {host!r}\n{frame}"


# --- inside ---------------------------------------------------------------------------------------


@dataclass
class Ran:
    """One run of the command: what it printed as JSON, and how it ended."""

    outcome: dict
    exit_code: int
    seconds: float
    stderr: str
    max_rss: int  # of the host process, in bytes
    raw: str = ""

    def __getattr__(self, name):
        return self.__dict__["outcome"][name]

    @property
    def reason(self):
        return (self.outcome["error"] or {}).get("message")

    @property
    def events(self):
        return {(e["action"], e["detail"]) for e in self.outcome["security_events"]}

    @property
    def layers(self):
        return {layer["name"]: layer["held"] for layer in self.outcome["isolation"]["layers"]}


def in_session(session: int) -> list[int]:
    """The processes of a session; what the command leaves behind would be in its own."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except OSError:
            continue
        state, _, _, session_of_it = stat.rpartition(")")[2].split()[:4]
        if int(session_of_it) == session and state != "Z":
            found.append(int(folder.name))
    return found


def left_in_session(session: int) -> list[int]:
    """Those that do not go by themselves: a killed process takes a moment to be taken apart."""
    # clock: not until(), whose failure would leave them
    deadline = time.monotonic() + HANG / 3
    while (left := in_session(session)) and time.monotonic() < deadline:
        time.sleep(0.01)  # sleeps: it polls
    return left


def belljar(code, *options, wrapper=(), timeout=60, cwd=None, binary=BELLJAR, profile=PROFILE):
    """Runs `belljar run`; whatever comes of it, nothing of it is left running."""
    arguments = [*map(str, wrapper), str(binary), "run", "--json", "--policy", "off"]
    arguments += ["--profile", str(profile), *map(str, options), "-c", code]
    if SLOWNESS > 1:  # where an attack would reach the profile's own limits before it has begun
        for limit in {"--timeout", "--cpu"} - set(options):
            arguments += [limit, str(LONGEST)]
    started = time.monotonic()  # clock: callers compare it
    process = subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, "BELLJAR_TEST_SECRET": SECRET},
        start_new_session=True,
    )
    out = {}

    def drain(name, pipe):
        out[name] = pipe.read()

    threads = [
        threading.Thread(target=drain, args=pair, daemon=True)
        for pair in (("out", process.stdout), ("err", process.stderr))
    ]
    for thread in threads:
        thread.start()
    killer = threading.Timer(timeout * SLOWNESS, process.kill)
    killer.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - started  # clock: callers compare it
    process.returncode = code = os.waitstatus_to_exitcode(status)
    hung = not killer.is_alive()
    killer.cancel()
    left = left_in_session(process.pid)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    for thread in threads:
        thread.join(5)
    process.stdout.close()
    process.stderr.close()
    stdout, stderr = (out.get(k, b"").decode("utf-8", "replace") for k in ("out", "err"))
    assert not hung, f"the command hung: {stderr}"
    assert not left, f"processes are left behind: {left}"
    parsed = json.loads(stdout) if stdout.strip() else {}
    return Ran(parsed, code, seconds, stderr, usage.ru_maxrss * 1024, stdout)


class JailRunner:
    """Runs programs with one layer omitted, or none, all those of a layer in one sandbox
    (runner.cc)."""

    def __init__(self, profile: Path | str = PROFILE) -> None:
        self.profile = profile
        self.layer: str | None = None
        self.process: subprocess.Popen | None = None

    def close(self) -> None:
        """Ends the sandbox, if there is one; nothing of it may be left running."""
        if self.process:
            self.process.stdin.close()
            self.process.wait(30 * SLOWNESS)
            self.process.stdout.close()
            left = left_in_session(self.process.pid)
            assert not left, f"processes are left behind: {left}"

    def start(self, layer: str | None) -> None:
        self.close()
        self.layer = layer
        self.process = subprocess.Popen(
            [BELLJAR.parent / "bin/jail_runner", self.profile, *([layer] if layer else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "BELLJAR_TEST_SECRET": SECRET},
            start_new_session=True,
        )

    def run(self, code: str, without: str | None = None) -> Ran:
        if not self.process or without != self.layer or self.process.poll() is not None:
            self.start(without)
        started = time.monotonic()  # clock: callers compare it
        self.process.stdin.write(json.dumps(code).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the runner has ended"
        # clock: callers compare it
        return Ran(json.loads(line), 0, time.monotonic() - started, "", 0)


@pytest.fixture(scope="session", autouse=True)
def command():
    if not BELLJAR.exists():
        pytest.fail(f"{BELLJAR} is not built")
    return BELLJAR


@pytest.fixture(scope="session")
def jail(command):
    """The machine can do all that strict asks for."""
    ran = belljar("print(1)")
    # Only what a machine may lack: any other failure of ours is a failure of the test.
    if ran.exit_code == 5 and re.search("clone a zygote|does not hold", ran.stderr + ran.raw):
        cannot(f"this machine cannot run strict: {ran.stderr}")
    assert ran.status == "ok", ran
    return ran


# --- outside --------------------------------------------------------------------------------------


def own_namespaces() -> list[str]:
    """A place where mounting, killing everything and the like hurt nobody."""
    wrapper = ["unshare", "--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child"]
    wrapper += ["--mount-proc"]
    if os.geteuid() != 0:
        wrapper += ["--map-root-user"]
    # A shell as init, with another process beside it: there is something to kill.
    return [*wrapper, "sh", "-c", 'ip link set lo up 2>/dev/null; sleep 60 & "$@"; exit $?', "sh"]


def run_outside(attack: Attack, host: dict, cwd: Path) -> subprocess.CompletedProcess:
    wrapper = own_namespaces() if attack.outside == "own" else []
    return subprocess.run(
        [*wrapper, PYTHON, "-I", "-c", program(attack.body, host)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd="/" if attack.outside == "nobody" else cwd,
        env={"PATH": os.environ["PATH"], "BELLJAR_TEST_SECRET": SECRET},
        timeout=60 * SLOWNESS,
        check=False,
        start_new_session=True,
        **(NOBODY if attack.outside == "nobody" and os.geteuid() == 0 else {}),
    )


# --- the host, as an attack finds it --------------------------------------------------------------


def accept_all(server: socket.socket, log: list) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        log.append(server.getsockname())
        connection.close()


def mounts_of_others() -> list[str]:
    """This machine's mounts but those of the container engine of the tests (tools/containers),
    which come and go with the containers of other tests.
    """
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return [mount for mount in mounts if f"{ENGINE_SOCKET.parent}/" not in mount]


@dataclass
class Host:
    """What there is to read, to reach and to hurt."""

    facts: dict
    folder: Path
    connections: list

    def state(self) -> dict:
        """What no attack may have changed."""
        kept = sorted(p for p in self.folder.rglob("*") if "outside" not in p.parts)
        files = {
            str(p): (p.lstat().st_mode, p.lstat().st_uid, p.lstat().st_mtime_ns, p.lstat().st_nlink)
            for p in kept
        }
        library = os.stat(self.facts["library_file"])
        return {
            "files": files,
            "canary": Path(self.facts["canary"]).read_text(),
            "library": (library.st_mode, library.st_size, library.st_mtime_ns),
            "mounts": mounts_of_others(),
            "name": socket.gethostname(),
            "core": Path("/proc/sys/kernel/core_pattern").read_text(),
            "keys": Path("/proc/keys").read_text().count(self.facts["key"])
            if Path("/proc/keys").exists()
            else 0,
            "leftovers": [
                str(p)
                for folder in ("/", "/tmp", "/dev/shm", "/usr", "/var/tmp", self.facts["library"])
                for p in Path(folder).glob("belljar-attack*")
            ],
            "connections": list(self.connections),
        }


@pytest.fixture(scope="session")
def host(tmp_path_factory):
    # Where anybody may look, so that only the jail is in the way.
    folder = Path(tempfile.mkdtemp(prefix="belljar-test-", dir="/tmp"))
    folder.chmod(0o755)
    (folder / "canary").write_text("the canary sings")
    (folder / "link").symlink_to(folder / "canary")
    (folder / "spoil").write_text("not yours")
    for name in ("canary", "spoil"):
        (folder / name).chmod(0o666)
    connections: list = []
    servers = [socket.create_server(("127.0.0.1", 0))]
    abstract, named = f"\0{folder.name}", str(folder / "socket")
    for name in (abstract, named):
        server = socket.socket(socket.AF_UNIX)
        server.bind(name)
        server.listen()
        servers.append(server)
    os.chmod(named, 0o777)
    for server in servers:
        threading.Thread(target=accept_all, args=(server, connections), daemon=True).start()
    library = subprocess.run(
        [PYTHON, "-I", "-c", "import os; print(os.path.dirname(os.__file__))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    folders = [
        "/",
        "/tmp",
        "/dev",
        "/dev/shm",
        "/usr",
        "/usr/lib",
        "/usr/share",
        "/var/tmp",
        "/etc",
    ]
    folders += [
        "/workspace",
        "/run",
        "/home",
        "/root",
        "/proc",
        "/sys",
        "/mnt",
        "/opt",
        "/srv",
        str(folder),
    ]
    folders += [path for path, _, _ in os.walk(library) if "__pycache__" not in path]
    facts = {
        "canary": str(folder / "canary"),
        "symlink": str(folder / "link"),
        "spoil": str(folder / "spoil"),
        "scratch": str(folder),
        "folders": folders,
        "home": "/root" if os.geteuid() == 0 else str(Path.home()),
        "library": library,
        "library_file": f"{library}/this.py",
        "port": servers[0].getsockname()[1],
        "abstract": abstract,
        "named_socket": named,
        "host_name": socket.gethostname(),
        "key": f"belljar-key-{os.getpid()}",
    }
    yield Host(facts, folder, connections)
    for server in servers:
        server.close()
    shutil.rmtree(folder)


VICTIM = "import ctypes,sys; b=ctypes.create_string_buffer(b'precious'); \
print(ctypes.addressof(b), flush=True); sys.stdin.read()"


@contextmanager
def a_process_to_hurt() -> Iterator[tuple[subprocess.Popen, dict[str, int]]]:
    """A process of the host, of the very uid that guest code has where the host is root."""
    identity = NOBODY if os.geteuid() == 0 else {}
    process = subprocess.Popen(
        [PYTHON, "-I", "-c", VICTIM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd="/",
        start_new_session=True,
        **identity,
    )
    place = int(process.stdout.readline())
    yield process, {"victim": process.pid, "victim_address": place}
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


@pytest.fixture
def victim():
    with a_process_to_hurt() as hurt:
        yield hurt
