"""Belljar as a server that a test starts, looks at and ends."""

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from tests.clocks import until

BELLJAR = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve() / "belljar"
TOKEN = "only-for-tests-0123456789abcdefghijklmnop"
TICKS = os.sysconf("SC_CLK_TCK")
# What it offers with the default settings.
TOOLS = {
    "checkpoint",
    "close_session",
    "execute_code",
    "get_sandbox_info",
    "list_sessions",
    "open_session",
    "read_output",
    "session_files",
    "validate_code",
}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def environment(**more: str) -> dict[str, str]:
    """Ours without what would configure a server."""
    ours = {
        k: v for k, v in os.environ.items() if not k.startswith(("SANDBOX_", "BELLJAR_", "OTEL_"))
    }
    return ours | more


def end(process: subprocess.Popen, timeout: float = 10) -> int:
    """Asks it to stop; returns its exit status, or fails if it had to be killed."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError(f"{process.args} did not stop within {timeout} s of SIGTERM") from None


class HttpServer:
    """`belljar serve --http` on loopback, ready to answer. Its log goes to a file."""

    def __init__(
        self,
        log: Path,
        port: int | None = None,
        token: str | None = None,
        arguments: Sequence[str] = (),
    ):
        self.arguments = arguments
        self.port = port or free_port()
        self.token = token
        self.log = log
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def pid(self) -> int:
        return self.process.pid

    def start(self) -> None:
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [BELLJAR, "serve", "--http", f"127.0.0.1:{self.port}", *self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment(**({"SANDBOX_API_TOKEN": self.token} if self.token else {})),
            )
        wait_for_http(self.process, self.port, "/readyz", 60, self.log)

    def stop(self) -> int:
        return end(self.process)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def wait_for_http(
    process: subprocess.Popen, port: int, path: str, seconds: float, log: Path
) -> None:
    """Until GET `path` answers 200."""
    # clock: a program that never answers is killed, and its log shown
    deadline = time.monotonic() + seconds
    last = "nothing was tried"
    while time.monotonic() < deadline and process.poll() is None:  # clock: as above
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            if response.status == 200:
                return
            last = f"status {response.status}"
        except OSError as error:
            last = str(error)
        finally:
            connection.close()
        time.sleep(0.02)  # sleeps: it polls
    ended = process.poll()
    if ended is None:
        process.kill()
        process.wait()
        ended = "nothing: it was killed by the test"
    raise AssertionError(
        f"{process.args[0]} was not ready on port {port} within {seconds} s ({last}); it ended "
        f"with {ended} and logged:\n{log.read_text(errors='replace')[-4000:]}"
    )


# --- looking at processes ---------------------------------------------------------------------


def _stat(pid: int) -> tuple[int, str, int] | None:
    """Parent, state and CPU ticks of a process; None: there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]), fields[0], int(fields[11]) + int(fields[12])


def descendants(root: int) -> dict[int, int]:
    """CPU ticks of every living process below `root`."""
    everything = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (stat := _stat(int(entry))) and stat[1] != "Z":
            everything[int(entry)] = stat
    found: dict[int, int] = {}
    below = {root}
    while below:
        below = {pid for pid, stat in everything.items() if stat[0] in below}
        found |= {pid: everything[pid][2] for pid in below}
    return found


def _filters(pid: int) -> int:
    """How many seccomp filters hold a process; 0: none, or there is no such process."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return int(status.rpartition("Seccomp_filters:")[2].split()[0])  # since Linux 5.9


def busiest(root: int) -> int:
    """The worker below `root` that computes: the first to use a twentieth of a second once sealed.

    What a process used before that is the interpreter's start, which says nothing of its program.
    """
    outside = _filters(os.getpid())
    before: dict[int, int] = {}

    def found() -> int:
        sealed = {p: ticks for p, ticks in descendants(root).items() if _filters(p) > outside}
        used = {pid: ticks - before.setdefault(pid, ticks) for pid, ticks in sealed.items()}
        pid = max(used, key=used.__getitem__, default=0)
        return pid if pid and used[pid] >= TICKS / 20 else 0

    return until(found, f"no worker below {root} computes")


def seconds_until_gone(pid: int, timeout: float) -> float:
    """How long it took; `timeout` if it is still there then."""
    start = time.monotonic()  # clock: its callers compare it
    while (stat := _stat(pid)) and stat[1] != "Z" and time.monotonic() - start < timeout:
        time.sleep(0.005)  # sleeps: it polls
    return time.monotonic() - start
