"""One conversation of an official client with Belljar: session.mjs or session.py is run, and what
it saw is kept by step. Everything that can be asked of a client is asked in one process, since its
start costs more than all its calls."""

import json
import selectors
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.server import BELLJAR, TOKEN, HttpServer, busiest, seconds_until_gone

HERE = Path(__file__).resolve().parent
TIMEOUT = 60  # for a whole conversation, which takes about 6 s
SPINNING_IS_KILLED_WITHIN = 10  # of the cancellation; left alone, it would end after 60 s

GUEST_FAILURE = 'print("before")\n1 / 0\n'
# One dot; a table; more than an answer carries.
DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
LEAVES_FILES = f"""
from base64 import b64decode
with open("dot.png", "wb") as image:
    image.write(b64decode("{DOT}"))
with open("table.csv", "w") as table, open("in/names.txt") as names:
    table.write("name\\n" + names.read())
with open("long.txt", "w") as text:
    text.write("long " * 10_000)
"""
# Beside the default profile; the clients start the server with them, or reach one that has them.
SERVE = ["serve", "--profiles", "basic,filesystem"]
# step, tool, arguments
CALLS = [
    ("execute", "execute_code", {"code": 'print("hello")\nresult = {"sum": 2 + 2}'}),
    ("validate", "validate_code", {"code": "import ctypes\nimport math\n"}),
    ("info", "get_sandbox_info", {}),
    ("guest_failure", "execute_code", {"code": GUEST_FAILURE}),
    ("wrong_type", "execute_code", {"code": 5}),
    ("missing_argument", "execute_code", {}),
    ("out_of_bounds", "execute_code", {"code": "1", "timeout": 4000}),
    ("unknown_tool", "launch_missiles", {}),
    (
        "left",
        "execute_code",
        {
            "code": LEAVES_FILES,
            "profile": "filesystem",
            "files": [{"path": "in/names.txt", "text": "Ada\n"}],
        },
    ),
]


@dataclass(frozen=True)
class Peer:
    """A client in one mode over one transport."""

    package: str  # sdk and client are TypeScript, mcp is Python
    mode: str | None
    transport: str
    version: str  # that client and server shall agree on

    def __str__(self) -> str:
        return "-".join(filter(None, (self.package, self.mode, self.transport)))

    @property
    def modern(self) -> bool:
        return self.version >= "2026"

    @property
    def pinned(self) -> bool:
        return self.mode == self.version


def _peers() -> list[Peer]:
    old, new = "2025-11-25", "2026-07-28"
    modes = [("sdk", None, old)]
    for package in ("client", "mcp"):
        modes += [(package, "legacy", old), (package, "auto", new), (package, new, new)]
    return [
        Peer(package, mode, transport, version)
        for package, mode, version in modes
        for transport in ("stdio", "http")
    ]


PEERS = _peers()


@dataclass(frozen=True)
class Conversation:
    peer: Peer
    seen: dict[str, Any]
    killed_after: float  # from cancelling until the process that ran the code was gone

    def __getitem__(self, step: str) -> Any:
        return self.seen[step]


def _command(peer: Peer, plan: dict[str, Any], build: Path) -> list[str]:
    if peer.package == "mcp":
        program = [build / "venv-clients/bin/python", "-I", HERE / "session.py"]
    else:
        program = [build / "clients/node", HERE / "session.mjs"]
    return [str(part) for part in program] + [json.dumps(plan)]


def talk(
    peer: Peer,
    build: Path,
    folder: Path,
    calls: list[tuple[str, str, dict[str, Any]]] | None = None,
    options: Sequence[str] = (),
) -> Conversation:
    """With a server of its own, so that many can talk at a time without sharing its workers. Over
    stdio the client starts it itself. `options` are more of the server's."""
    serve = [*SERVE, *options]
    plan = {
        "package": peer.package,
        "mode": {"pin": peer.mode} if peer.package == "client" and peer.pinned else peer.mode,
        "stdio": None,
        "http": None,
        "installed": str(build / "clients"),
        "calls": CALLS if calls is None else calls,
    }
    if peer.transport == "stdio":
        plan["stdio"] = {"command": str(BELLJAR), "args": serve}
        return _converse(peer, _command(peer, plan, build), None, folder / "stderr.txt")
    server = HttpServer(folder / "server.txt", token=TOKEN, arguments=serve[1:])
    try:
        plan["http"] = {"url": server.url, "headers": server.headers}
        return _converse(peer, _command(peer, plan, build), server.pid, folder / "stderr.txt")
    finally:
        server.stop()


def _converse(peer: Peer, command: list[str], server: int | None, log: Path) -> Conversation:
    seen: dict[str, Any] = {}
    killed_after = float("inf")
    with open(log, "wb") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    try:
        for line in _lines(process):
            told = json.loads(line)
            seen[told["step"]] = told["seen"]
            if told["step"] == "spinning":
                worker = busiest(server or process.pid)
                process.stdin.write(b"go\n")
                process.stdin.flush()
                killed_after = seconds_until_gone(worker, SPINNING_IS_KILLED_WITHIN)
        status = process.wait(10)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdin.close()
        process.stdout.close()
    assert status == 0 and "closed" in seen, (
        f"{peer} ended with status {status} after step {list(seen)[-1:]}; on stderr:\n"
        f"{log.read_text(errors='replace')[-6000:]}"
    )
    return Conversation(peer, seen, killed_after)


def _lines(process: subprocess.Popen):
    """Lines of its output until it ends; fails when the conversation takes too long."""
    deadline = time.monotonic() + TIMEOUT  # clock: of a conversation that hangs
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        buffer = b""
        while True:
            left = deadline - time.monotonic()  # clock: as above
            assert left > 0 and selector.select(left), f"the client is still busy after {TIMEOUT} s"
            chunk = process.stdout.read1(1 << 16)
            if not chunk:
                return
            *lines, buffer = (buffer + chunk).split(b"\n")
            yield from lines
