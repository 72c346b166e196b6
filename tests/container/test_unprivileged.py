"""Belljar itself inside an ordinary container: Docker's own seccomp profile, no capability added,
as root and as somebody else. Namespaces are forbidden there. `standard` runs with the layers that
are left and says which; `strict` refuses and says why."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clocks import until
from tests.container.daemon import Archive, Daemon, open_daemon
from tests.machine import BELLJAR

# An engine takes an image of 50 MB within seconds, or minutes where the machine is busy.
pytestmark = pytest.mark.timeout(400)

LABEL = "dev.belljar.test.unprivileged"
INSIDE = "/opt/belljar/belljar"
# /proc/PID/status of Docker's default capabilities.
DOCKERS_CAPABILITIES = 0xA80425FB


@pytest.fixture(scope="module")
def daemon() -> Daemon:
    return open_daemon()


# --- an image with the command in it --------------------------------------------------------------


def linked_libraries(program: Path) -> list[Path]:
    """As ld.so finds them here."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [Path(path) for path in re.findall(r"=> (/\S+)", text)]


def layer_with_the_command(archive: Archive) -> bytes:
    """The command, the libraries that the image lacks, and a /tmp as every container has one."""
    names = archive.names()
    folder = next(name for name in names if name.endswith("/libc.so.6")).rpartition("/")[0]
    there = {Path(name).name for name in names}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as layer:

        def add(name: str, content: bytes, mode: int) -> None:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            layer.addfile(entry, io.BytesIO(content))

        add(INSIDE[1:], BELLJAR.read_bytes(), 0o755)
        for library in linked_libraries(BELLJAR):
            if library.name not in there:
                add(f"{folder}/{library.name}", library.read_bytes(), 0o644)
        # Whoever reads it may run it; code that runs may not read it.
        add("readable.py", b"print('the command could read it')\n", 0o644)
        tmp = tarfile.TarInfo("tmp")
        tmp.type, tmp.mode = tarfile.DIRTYPE, 0o1777
        layer.addfile(tmp)
    return out.getvalue()


def image_of(layers: list[bytes], name: str) -> bytes:
    """As `docker save` writes it."""
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": [INSIDE], "Env": ["LANG=C.UTF-8"]},
        "rootfs": {
            "type": "layers",
            "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers],
        },
    }
    paths = [f"{number}.tar" for number in range(len(layers))]
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": paths}]
    files = {
        "config.json": json.dumps(config).encode(),
        "manifest.json": json.dumps(manifest).encode(),
        **dict(zip(paths, layers, strict=True)),
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


@pytest.fixture(scope="module")
def image(daemon: Daemon, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("unprivileged") / "basic.tar"
    subprocess.run([BELLJAR, "image", "build", "--output", path], check=True, capture_output=True)
    archive = Archive.read(path)
    name = f"belljar-test-unprivileged:{os.getpid()}"
    daemon("load", stdin=image_of([archive.layer, layer_with_the_command(archive)], name))
    yield name
    daemon("rmi", "--force", name)


# --- a container that stays -----------------------------------------------------------------------


@dataclass(frozen=True)
class Done:
    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict:
        return json.loads(self.stdout)


@dataclass(frozen=True)
class Container:
    daemon: Daemon
    id: str
    user: str

    def belljar(self, *arguments: str, stdin: bytes = b"") -> Done:
        """The command in it, as the container's own user and under its limits."""
        done = self.daemon.ask("exec", "--interactive", self.id, INSIDE, *arguments, stdin=stdin)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """The same with standard input left open; closed by whoever starts it."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [self.daemon.command, "exec", "--interactive", self.id, INSIDE, *arguments],
            env=self.daemon.environment,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )

    def run(self, code: str, *options: str) -> Done:
        return self.belljar("run", "--isolation", "standard", *options, "-c", code)


@pytest.fixture(scope="module", params=["0:0", "1000:1000"], ids=["root", "user"])
def container(daemon: Daemon, image: str, request: pytest.FixtureRequest) -> Iterator[Container]:
    # Its first process is the server itself, which waits for a client on standard input.
    made = daemon(
        *("run", "--detach", "--interactive", "--network=none", f"--user={request.param}"),
        *(f"--label={LABEL}={os.getpid()}", image, "serve", "--isolation", "standard"),
    )
    yield Container(daemon, made, request.param)
    daemon("rm", "--force", "--volumes", made)


def test_the_container_is_an_ordinary_one(container: Container) -> None:
    facts = container.daemon.inspect(container.id)
    assert facts["HostConfig"]["Privileged"] is False
    assert facts["HostConfig"]["CapAdd"] is None
    assert facts["HostConfig"]["SecurityOpt"] is None
    assert facts["State"]["Running"], container.daemon("logs", container.id)
    status = Path(f"/proc/{facts['State']['Pid']}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["Seccomp"] == "2"
    capabilities = DOCKERS_CAPABILITIES if container.user == "0:0" else 0
    assert int(fields["CapEff"], 16) == capabilities


# --- what holds -----------------------------------------------------------------------------------


def held_layers(isolation: dict) -> set[str]:
    return {layer["name"] for layer in isolation["layers"] if layer["held"]}


# What a kernel with Landlock leaves in such a container; a control group may be made in none.
LEFT = {"privileges", "rlimits", "landlock", "seccomp"}


def test_standard_runs_and_says_what_holds(container: Container) -> None:
    done = container.run("print(6 * 7)", "--json")
    assert (done.code, done.stderr) == (0, "")
    assert done.json["stdout"] == "42\n"
    assert done.json["isolation"]["mode"] == "standard"
    assert held_layers(done.json["isolation"]) == LEFT
    why = {layer["name"]: layer["detail"] for layer in done.json["isolation"]["layers"]}
    assert why["namespaces"]


@pytest.mark.parametrize("options", [(), ("--isolation", "strict")], ids=["default", "strict"])
def test_strict_refuses_and_says_why(container: Container, options: tuple[str, ...]) -> None:
    done = container.belljar("run", *options, "-c", "print('it ran')")
    assert (done.code, done.stdout) == (5, "")
    assert done.stderr.startswith("belljar: error: ")
    assert "namespaces" in done.stderr
    assert "--isolation standard" in done.stderr


ESCAPES = """
import os, socket
def tried(name, attempt):
    try: print(name, "WON", attempt())
    except Exception as error: print(name, type(error).__name__)
tried("read", lambda: open("/readable.py").read())
tried("list", lambda: os.listdir("/opt/belljar"))
tried("write", lambda: open("/tmp/left", "w"))
tried("signal", lambda: os.kill(1, 0))
tried("fork", os.fork)
tried("socket", lambda: socket.socket())
tried("root", lambda: os.setuid(0))
"""


def test_code_without_the_policy_gets_nothing_of_the_container(container: Container) -> None:
    control = container.belljar("run", "--isolation", "standard", "/readable.py")
    assert (control.code, control.stdout) == (0, "the command could read it\n")
    done = container.run(ESCAPES, "--policy", "off")
    assert done.code == 0, done.stderr
    assert "WON" not in done.stdout
    names = [line.split()[0] for line in done.stdout.splitlines()]
    assert names == ["read", "list", "write", "signal", "fork", "socket", "root"]


@pytest.mark.parametrize(
    ("code", "options", "exit_code"),
    [
        ("print('well')", (), 0),
        ("1 / 0", (), 1),
        ("print('well')", ("--no-such-option",), 2),
        ("import ctypes", (), 3),
        ("while True: pass", ("--timeout", "200ms"), 4),
        ("x = 'x' * 10**9", ("--memory", "32m"), 4),
    ],
    ids=["well", "exception", "usage", "refused", "timeout", "memory"],
)
def test_exit_codes_are_those_of_everywhere(
    container: Container, code: str, options: tuple[str, ...], exit_code: int
) -> None:
    done = container.run(code, *options)
    assert done.code == exit_code, done.stderr


def test_doctor_says_what_is_here_and_what_is_not(container: Container) -> None:
    done = container.belljar("doctor", "--json")
    assert done.code == 1, done.stderr
    checks = {check["name"]: check for check in done.json["checks"]}
    found = {name: check["found"] for name, check in checks.items()}
    assert (found["strict"], found["standard"], found["namespaces"]) == (False, True, False)
    assert found["seccomp"] and found["landlock"] and found["installation"]
    assert "without namespaces" in checks["standard"]["detail"]
    assert checks["namespaces"]["how"]
    text = container.belljar("doctor")
    assert text.code == 1
    assert text.stdout.endswith("\nStrict isolation does not work here.\n")


def test_info_is_whole(container: Container) -> None:
    done = container.belljar("info", "--json")
    assert (done.code, done.stderr) == (0, "")
    assert "basic" in json.dumps(done.json)


# --- the server -----------------------------------------------------------------------------------


def request(number: int, method: str, **params: object) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


EXECUTE = {"name": "execute_code", "arguments": {"code": "print('hi')\n6 * 7"}}


def conversation(
    container: Container, *options: str, call: dict = EXECUTE
) -> tuple[dict, list[dict], int]:
    """The answer to one call of a server over stdio, its log, and its exit code. Standard input
    stays open until the answer is there: its end is that of the server."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    asked = [
        request(1, "initialize", **hello),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n',
        request(2, "tools/call", **call),
    ]
    with container.start("serve", "--answer-detail", "full", *options) as server:
        server.stdin.write(b"".join(asked))
        server.stdin.flush()
        answer: dict = {}
        while answer.get("id") != 2:
            line = server.stdout.readline()
            if not line:
                break
            answer = json.loads(line)
        server.stdin.close()
        log = [json.loads(line) for line in server.stderr.read().splitlines()]
        code = server.wait(30)
    return answer, log, code


def test_the_server_runs_code_over_stdio(container: Container) -> None:
    answer, log, code = conversation(container, "--isolation", "standard")
    result = answer["result"]["structuredContent"]
    assert (result["result"], result["stdout"]) == (42, "hi\n")
    assert result["isolation"]["mode"] == "standard"
    assert held_layers(result["isolation"]) == LEFT
    events = {entry["event"] for entry in log}
    assert "weak" in events and "cannot_run" not in events
    assert code == 0


def test_the_server_tells_its_clients_what_is_here(container: Container) -> None:
    asked = {"name": "get_sandbox_info", "arguments": {}}
    answer, _, _ = conversation(container, "--isolation", "standard", call=asked)
    isolation = answer["result"]["structuredContent"]["isolation"]
    assert isolation["mode"] == "standard"
    available = {layer["name"]: layer["available"] for layer in isolation["layers"]}
    assert {name for name, is_there in available.items() if is_there} == LEFT
    assert available["namespaces"] is False


def test_a_strict_server_runs_nothing_and_says_why(container: Container) -> None:
    answer, log, code = conversation(container)
    assert answer["result"]["isError"] is True
    assert "structuredContent" not in answer["result"]
    (content,) = answer["result"]["content"]
    assert "could not run the code" in content["text"]
    assert "server's log" in content["text"], "where the cause is"
    (failure,) = [entry for entry in log if entry["event"] == "execution.ended"]
    assert failure["level"] == "error"
    assert "namespaces" in failure["failure"]
    assert "--isolation standard" in failure["failure"]
    # Said before anybody has called.
    events = [entry["event"] for entry in log]
    assert events.index("cannot_run") < events.index("execution.ended")
    (reason,) = [entry for entry in log if entry["event"] == "cannot_run"]
    assert reason["level"] == "error"
    assert "namespaces" in reason["why"] and "--isolation standard" in reason["why"]
    assert code == 0


def test_the_first_process_still_runs_and_left_no_child_behind(container: Container) -> None:
    """The server is process 1 here: what its workers leave is its to reap."""
    for _ in range(3):
        assert container.run("print(1)").code == 0

    def has_no_zombie() -> bool:  # whoever has just ended is one for a moment
        top = container.daemon("top", container.id, "-o", "pid,stat,comm")
        states = [line.split()[1] for line in top.splitlines()[1:]]
        assert states, top
        return not any(state.startswith("Z") for state in states)

    until(has_no_zombie)
