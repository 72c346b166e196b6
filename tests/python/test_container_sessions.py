"""Sessions in containers of every kind: what stays, what ends them, and what is left then."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from belljar import (
    AsyncSandbox,
    BelljarError,
    ContainerOptions,
    Sandbox,
    Session,
    SessionBusy,
    SessionClosed,
)

from tests.clocks import until
from tests.machine import BELLJAR
from tests.places.place import CONTAINERS, ENGINE_SOCKET, Place, load, need

pytestmark = pytest.mark.timeout(400)

FIRST = "this session has no checkpoints, and a cell that is killed ends it: under {} a session"
LAST = (
    "the session has ended with this cell: under {} a session cannot be copied, so there is no "
    "checkpoint to go on from"
)


@pytest.fixture(params=CONTAINERS, ids=str, scope="module")
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    need(found)
    for profile in ("basic", "filesystem"):
        load(found, profile)
    return found


def options_of(place: Place) -> ContainerOptions:
    return ContainerOptions(
        engine=place.engine,  # type: ignore[arg-type]
        runtime=place.runtime,  # type: ignore[arg-type]
        socket=str(ENGINE_SOCKET) if place.engine == "docker" else None,
    )


@pytest.fixture(scope="module")
def box(place: Place) -> Iterator[Sandbox]:
    with Sandbox(container=options_of(place), spares=0) as sandbox:
        yield sandbox


def containers(place: Place, owner: int | None = None) -> set[str]:
    """Those of Belljar's in the engine of the place, or only those of the process `owner`."""
    if place.engine == "docker":
        command = ["docker", "ps", "--all", "--filter", "label=belljar.owner"]
        command += ["--format", '{{.ID}} {{.Label "belljar.owner"}}']
        done = subprocess.run(
            command,
            env=os.environ | {"DOCKER_HOST": f"unix://{ENGINE_SOCKET}"},
            check=True,
            capture_output=True,
            text=True,
        )
        listed = dict(line.split() for line in done.stdout.splitlines())
        return {each for each, label in listed.items() if owner in (None, _pid_in(label))}
    found = {
        name for name in os.listdir("/proc") if name.isdecimal() and _is_sandbox_of_runsc(name)
    }
    return {each for each in found if owner is None or _is_below(int(each), owner)}


def _pid_in(label: str) -> int:
    return int(label.split("/")[2])


def _is_below(pid: int, ancestor: int) -> bool:
    while pid > 1 and pid != ancestor:
        try:
            with open(f"/proc/{pid}/stat") as file:
                pid = int(file.read().rpartition(") ")[2].split()[1])
        except OSError:  # it has ended
            return False
    return pid == ancestor


def _is_sandbox_of_runsc(pid: str) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
    except OSError:
        return False
    return b"boot" in words and words[0].startswith(b"runsc-sandbox")


def test_names_imports_and_errors(place: Place, box: Sandbox) -> None:
    with box.session() as session:
        first = session.run("import math\nx = 40\nprint('hello')")
        assert (first.ok, first.stdout, first.value) == (True, "hello\n", None)
        assert first.session is not None and first.container is not None
        assert first.session.note == FIRST.format(place.runtime) + " cannot be copied"
        assert (first.session.cell, first.session.checkpoint) == (1, None)
        assert first.container.runtime == place.runtime
        second = session.run("math.floor(x + 2.5)")
        assert (second.value, second.session.note) == (42, None)  # type: ignore[union-attr]
        assert session.run("_").value == 42
        assert session.run("1 / 0").status == "exception"
        assert session.run("import ctypes").status == "refused"
        assert session.run("x").value == 40
        assert session.run("y = z + 1\ny", inputs={"z": 1}).value == 2
        assert [variable.name for variable in session.variables()][:2] == ["math", "x"]
        assert "math" in [each.text for each in session.complete("mat")]


def test_a_cell_that_is_stopped_ends_it(place: Place, box: Sandbox) -> None:
    for code, limits, status in (
        ("print('so far', flush=True)\nwhile True: pass", {"timeout": 1}, "timeout"),
        ("print('so far', flush=True)\nwhile True: pass", {"cpu": 1, "timeout": 30}, "cpu_limit"),
    ):
        with box.session() as session:
            session.run("x = 1")
            result = session.run(code, **limits)  # type: ignore[arg-type]
            assert (result.status, result.stdout) == (status, "so far\n")
            assert result.session is not None
            assert (result.session.restored, result.session.note) == (
                False,
                LAST.format(place.runtime),
            )
            with pytest.raises(SessionClosed, match=rf"cell 2 ended it \({status}\)"):
                session.run("x")
            with pytest.raises(SessionClosed, match=f"under {place.runtime} a session cannot"):
                session.variables()


def test_memory(place: Place, box: Sandbox) -> None:
    with box.session(memory="64m") as session:
        assert session.run("len(bytearray(16 << 20))").value == 16 << 20
        assert session.run("x = bytearray(200 << 20)").status == "memory_limit"


def test_cpu_time_is_that_of_the_cell(box: Sandbox) -> None:
    busy = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass"
    with box.session() as session:
        for _ in range(4):
            result = session.run(busy, cpu=1, timeout=60)
            assert result.ok, result


def test_interrupt_and_stream(box: Sandbox) -> None:
    with box.session() as session:
        seen: list[str] = []
        begun = threading.Event()

        def stream(name: str, text: str) -> None:
            seen.append(text)
            begun.set()

        def interrupt() -> None:
            assert begun.wait(60)
            assert session.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        result = session.run(
            "x = 1\nprint('begun', flush=True)\nwhile True: pass", stream=stream, timeout=60
        )
        thread.join()
        assert (result.status, "".join(seen)) == ("exception", "begun\n")
        assert result.error is not None and result.error.type == "KeyboardInterrupt"
        assert session.run("x").value == 1
        assert not session.interrupt()


def test_functions(box: Sandbox) -> None:
    with box.session() as session:
        assert session.run("def both(): return f(1) + f(2)").ok
        assert session.run("both()", functions={"f": lambda x: x * 10}).value == 30
        # Its clock stands still.
        slow = {"f": lambda x: time.sleep(1.5) or x}  # sleeps: as long as the cell may take
        assert session.run("both()", functions=slow, timeout=1.5).value == 3
        error = session.run("both()").error
        assert error is not None and error.type == "RuntimeError"


def test_files(place: Place) -> None:
    with (
        Sandbox("filesystem", container=options_of(place), spares=0) as box,
        box.session() as session,
    ):
        made = session.run(
            "open('made.txt', 'w').write(open('given.txt').read() * 2)", files={"given.txt": "ab"}
        )
        assert [(a.name, a.content) for a in made.artifacts] == [("made.txt", b"abab")]
        assert session.run("open('made.txt').read()").artifacts == ()
        assert sorted(session.files) == ["given.txt", "made.txt"]
        assert session.files["made.txt"] == b"abab"
        session.files["sub/new.txt"] = b"x" * 300_000
        assert session.run("len(open('sub/new.txt').read())").value == 300_000
        del session.files["made.txt"]
        with pytest.raises(KeyError):
            session.files["made.txt"]
        error = session.run("open('made.txt')").error
        assert error is not None and error.type == "FileNotFoundError"


def test_what_it_cannot(place: Place, box: Sandbox) -> None:
    said = (
        f"under {place.runtime} a session cannot be copied, so it has no checkpoints and no "
        "branches; open it without a container"
    )
    with box.session() as session, box.session() as other:
        session.run("x = 1")
        for refused in (
            lambda: session.checkpoint("kept"),
            lambda: session.rollback("c1"),
            lambda: session.undo(),
            lambda: session.branch(2),
            lambda: session.compare(other),
        ):
            with pytest.raises(BelljarError, match=said):
                refused()
        assert session.run("x").value == 1


def test_a_spare_container_becomes_a_session(place: Place) -> None:
    with Sandbox(container=options_of(place), spares=1) as box:
        until(lambda: bool(containers(place, os.getpid())))
        with box.session() as session:
            assert session.run("x = 40").ok
            assert session.run("x + 2").value == 42


def test_a_network_is_refused(place: Place) -> None:
    load(place, "network")
    with (
        Sandbox("network", container=options_of(place), spares=0) as box,
        pytest.raises(BelljarError, match="in a container it has no network"),
    ):
        box.session()


def opened(place: Place, box: Sandbox) -> tuple[Session, str]:
    """A session, and its container."""
    before = containers(place, os.getpid())
    session = box.session()
    (ours,) = containers(place, os.getpid()) - before
    return session, ours


def test_the_container_goes_with_its_session(place: Place) -> None:
    with Sandbox(container=options_of(place), spares=0) as box:
        session, first = opened(place, box)
        assert session.run("x = 1").ok
        session.close()
        until(lambda: first not in containers(place))
        ended, second = opened(place, box)
        assert ended.run("while True: pass", timeout=1).status == "timeout"
        until(lambda: second not in containers(place))
        left, third = opened(place, box)
        assert left.run("1").ok
    until(lambda: third not in containers(place))
    with pytest.raises(SessionClosed):
        left.run("1")


OWNER = """
import sys
from belljar import ContainerOptions, Sandbox
box = Sandbox(container=ContainerOptions(**{options!r}), spares=0)
session = box.session()
session.run("x = 1")
print("open", flush=True)
session.run("while True: pass", timeout=60)
"""


@contextmanager
def owner(place: Place) -> Iterator[subprocess.Popen[str]]:
    import sys

    options = {
        "engine": place.engine,
        "runtime": place.runtime,
        "socket": str(ENGINE_SOCKET) if place.engine == "docker" else None,
    }
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(options=options)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=60)


def test_nothing_is_left_of_an_owner_that_is_killed(place: Place) -> None:
    """Its container ends with it; what the engine still lists, the next owner removes."""
    with owner(place) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        ours = containers(place, process.pid)
        assert ours
        process.send_signal(signal.SIGKILL)
    with Sandbox(container=options_of(place), spares=0) as box:
        assert box.run("1").ok
    until(lambda: ours.isdisjoint(containers(place)))


def test_async(place: Place) -> None:
    import asyncio

    async def main() -> None:
        async with (
            AsyncSandbox(container=options_of(place), spares=0) as box,
            box.session() as session,
        ):
            assert (await session.run("x = 2")).ok
            assert (await session.run("x + 1")).value == 3

    asyncio.run(main())


def test_one_call_at_a_time(box: Sandbox) -> None:
    with box.session(wait=0.01) as session:
        begun, go_on = threading.Event(), threading.Event()
        thread = threading.Thread(
            target=lambda: session.run(
                "print(1, flush=True)\ngo_on()",
                stream=lambda name, text: begun.set(),
                functions={"go_on": go_on.wait},
            )
        )
        thread.start()
        assert begun.wait(60)
        with pytest.raises(SessionBusy):
            session.run("1")
        go_on.set()
        thread.join()
        assert session.run("1").ok


class Server:
    """`belljar serve` over stdio."""

    def __init__(self, place: Place) -> None:
        self.process = subprocess.Popen(
            [BELLJAR, "serve"],
            env=os.environ | place.settings() | {"BELLJAR_CONTAINER_SPARES": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.last = 0
        self.ask(
            "initialize",
            {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "0"},
            },
        )

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.last:
                return answer["result"]

    def call(self, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(part.get("text", "") for part in result["content"])
        return text, result.get("structuredContent", {})


@pytest.fixture
def server(place: Place) -> Iterator[Server]:
    served = Server(place)
    try:
        yield served
    finally:
        served.process.kill()
        served.process.communicate(timeout=60)


def test_mcp(place: Place, server: Server) -> None:
    text, answer = server.call(
        "execute_code", code="x = 40", session="new", use_container=True, detail="lean"
    )
    assert FIRST.format(place.runtime) in text
    session = answer["session"]["id"]
    assert server.call("execute_code", code="x + 2", session=session)[1]["result"] == 42
    refused = server.call("execute_code", code="1", session=session, use_container=False)[0]
    assert "use_container is fixed when a session is opened, and this one runs in a con" in refused
    for arguments in ({}, {"action": "roll_back", "checkpoint": "c1"}, {"action": "branch"}):
        text, _ = server.call("checkpoint", session=session, **arguments)
        assert f"under {place.runtime} a session cannot be copied" in text, text
    (listed,) = server.call("list_sessions")[1]["sessions"]
    assert (listed["session"], listed["cells"], listed["checkpoints"]) == (session, 2, 0)
    text, answer = server.call("execute_code", code="while 1: pass", session=session, timeout=1)
    assert LAST.format(place.runtime) in text
    text, _ = server.call("execute_code", code="x", session=session)
    assert "cell 3 ended it (timeout)" in text, text

    _, opened = server.call("open_session", use_container=True)
    assert server.call("execute_code", code="1 + 1", session=opened["session"])[1]["result"] == 2
    assert containers(place, server.process.pid)
    assert server.call("close_session", session=opened["session"])[1]["closed"] is True
    until(lambda: not containers(place, server.process.pid))
    # Sessions of this machine are as they were.
    text, answer = server.call("execute_code", code="x = 1", session="new")
    assert answer["session"].get("note") is None
    refused, _ = server.call("execute_code", code="1", session="new", packages=["six"])
    assert "packages" in refused


def test_nothing_is_left_of_a_server_that_is_killed(place: Place) -> None:
    served = Server(place)
    try:
        assert served.call("open_session", use_container=True)[1]["success"] is True
        ours = containers(place, served.process.pid)
        assert ours
    finally:
        served.process.kill()
        served.process.communicate(timeout=60)
    again = Server(place)
    try:
        assert again.call("execute_code", code="1", use_container=True)[1]["success"] is True
        until(lambda: ours.isdisjoint(containers(place)))
    finally:
        again.process.kill()
        again.process.communicate(timeout=60)


def test_repl(place: Place) -> None:
    cells = "x = 40\n\nx + 2\n\n%undo\n\n%vars\n%reset\n\n1 + 1\n\nwhile True: pass\n\n2 + 2\n"
    done = subprocess.run(
        [BELLJAR, "repl", *place.options(), "--timeout", "1"],
        input=cells,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stdout.splitlines()[0]) == (4, "42"), done
    assert done.stdout.endswith("\n2\n"), done.stdout
    assert FIRST.format(place.runtime) in done.stderr
    assert f"under {place.runtime} a session cannot be copied" in done.stderr
    assert LAST.format(place.runtime) in done.stderr
