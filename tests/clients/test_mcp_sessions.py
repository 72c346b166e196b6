"""Sessions of `belljar serve`: both eras, both transports, and what stays behind."""

import base64
import http.client
import io
import json
import os
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.server import BELLJAR, environment
from tests.clocks import HANG, until

STATELESS = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Client:
    """Over stdio."""

    def __init__(self, era: str, *flags: str, **settings: str) -> None:
        self._meta = STATELESS if era == "stateless" else None
        self.process = subprocess.Popen(
            [BELLJAR, "serve", "--config", "/dev/null", "--log-level", "off", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(**settings),
        )
        if self._meta is None:
            params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
            self.ask("initialize", **params)

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        return message

    def ask(self, method: str, number: int = 1, **params: Any) -> dict[str, Any]:
        self.request(method, number, **params)
        result: dict[str, Any] = self.read()["result"]
        return result

    def request(self, method: str, number: int, **params: Any) -> None:
        if self._meta is not None:
            params["_meta"] = self._meta | params.get("_meta", {})
        self.send(id=number, method=method, params=params)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result["isError"], result["content"][0]["text"]
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    def refusal(self, tool: str, **arguments: Any) -> str:
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert result["isError"]
        text: str = result["content"][0]["text"]
        return text

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(30) == 0


def descendants(pid: int) -> set[int]:
    found: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found |= {int(folder.name)} | descendants(int(folder.name))
    return found


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if Path(f"/proc/{pid}/stat").exists()}


@pytest.fixture(params=["handshake", "stateless"])
def client(request, sealed) -> Iterator[Client]:
    client = Client(request.param, SANDBOX_ENABLE_FILESYSTEM="true")
    yield client
    client.end()


def test_a_session_from_its_beginning_to_its_end(client):
    tools = {tool["name"] for tool in client.ask("tools/list")["tools"]}
    assert tools >= {"open_session", "list_sessions", "close_session"}
    assert tools >= {"checkpoint", "session_files"}
    session = client.call("open_session", profile="filesystem")["session"]
    assert len(session) == 32

    first = client.call("execute_code", session=session, code="x = 40")
    assert first["session"] == {"id": session, "cell": 1, "checkpoint": "c0"}
    client.call("execute_code", session=session, code="open('a.txt', 'w').write('hello')\nx += 2")
    assert client.call("execute_code", session=session, code="x")["result"] == 42

    (branch,) = client.call("checkpoint", session=session, action="branch")["branches"]
    client.call("execute_code", session=branch, code="x = 0")
    difference = client.call("checkpoint", session=session, action="compare", other=branch)
    assert [change["name"] for change in difference["variables"]] == ["x"]
    client.call("checkpoint", session=session, action="roll_back", checkpoint="c1")
    assert client.call("execute_code", session=session, code="x")["result"] == 40
    assert client.call("session_files", session=session)["files"] == []
    assert client.call("session_files", session=branch)["files"] == [{"path": "a.txt", "size": 5}]

    listed = client.call("list_sessions")["sessions"]
    assert [each["session"] for each in listed] == [session, branch]
    client.call("close_session", session=session)
    told = client.refusal("execute_code", session=session, code="1")
    assert told.startswith(f'execute_code: session "{session}" was closed at ')
    assert client.call("execute_code", session=branch, code="x")["result"] == 0


def test_an_export_is_a_tar_file_for_others(client):
    session = client.call("open_session", profile="filesystem")["session"]
    files = [
        {"path": "b", "text": ""},
        {"path": "d/e/ä.txt", "text": "hello"},
        {"path": f"{'f' * 120}/{'n' * 90}", "base64": base64.b64encode(bytes(range(256))).decode()},
    ]
    client.call("session_files", session=session, action="write", files=files)
    exported = client.call("session_files", session=session, action="export")
    assert exported["count"] == 3
    (content,) = client.ask("resources/read", uri=exported["uri"])["contents"]
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(content["blob"]))) as archive:
        members = {member.name: archive.extractfile(member).read() for member in archive}
    assert members == {
        "b": b"",
        "d/e/ä.txt": b"hello",
        f"{'f' * 120}/{'n' * 90}": bytes(range(256)),
    }
    # And the other way round, in the sealed worker.
    client.call(
        "session_files",
        session=session,
        action="write",
        files=[{"path": "in.tar", "base64": content["blob"]}],
    )
    code = "import tarfile\ntarfile.open('in.tar').extractall('out')\nopen('out/d/e/ä.txt').read()"
    assert client.call("execute_code", session=session, code=code)["result"] == "hello"


def test_an_idle_one_goes_by_itself(sealed):
    client = Client("handshake", BELLJAR_SESSIONS_IDLE="1s")
    try:
        started = descendants(client.process.pid)
        session = client.call("execute_code", session="new", code="1")["session"]["id"]
        assert len(descendants(client.process.pid) - started) > 1
        until(lambda: not client.call("list_sessions")["sessions"])
        assert "nobody had used it for 1 second" in client.refusal(
            "execute_code", session=session, code="1"
        )
    finally:
        client.end()


def test_a_cancelled_cell_gets_a_keyboard_interrupt_and_costs_no_session(client):
    session = client.call("open_session")["session"]
    client.call("execute_code", session=session, code="x = 1")
    client.request(
        "tools/call",
        7,
        name="execute_code",
        arguments={"session": session, "code": "print('on', flush=True)\nwhile True: x += 1"},
        _meta={"progressToken": 1},
    )
    assert client.read()["method"] == "notifications/progress"
    client.send(method="notifications/cancelled", params={"requestId": 7})
    assert client.call("execute_code", session=session, code="x > 1")["result"] is True


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_a_server_that_ends_leaves_no_process(sealed, how):
    client = Client("handshake", "--drain-timeout", "1s", SANDBOX_ENABLE_FILESYSTEM="true")
    session = client.call("open_session", profile="filesystem")["session"]
    client.call("execute_code", session=session, code="x = 1")
    client.call("checkpoint", session=session, action="branch", count=2)
    client.request(
        "tools/call",
        7,
        name="execute_code",
        arguments={"session": session, "code": "print('on', flush=True)\nwhile True: pass"},
        _meta={"progressToken": 1},
    )
    assert client.read()["method"] == "notifications/progress"
    started = descendants(client.process.pid)
    assert len(started) > 5
    assert client.process.stdin is not None
    if how is None:
        client.process.stdin.close()
    else:
        os.kill(client.process.pid, how)
    client.process.wait(HANG)
    until(lambda: not alive(started))


def test_off_by_one_setting(sealed):
    client = Client("handshake", BELLJAR_SESSIONS_ENABLED="false")
    try:
        tools = client.ask("tools/list")["tools"]
        assert [tool["name"] for tool in tools] == [
            "execute_code",
            "validate_code",
            "get_sandbox_info",
            "read_output",
        ]
        assert "session" not in json.dumps(tools)
        assert "no sessions" in client.refusal("execute_code", code="1", session="new")
    finally:
        client.end()


TOKENS = {name: f"{name}-0123456789abcdefghijklmnopqrstuvwxyz" for name in ("one", "two")}


@pytest.fixture
def address(tmp_path, sealed) -> Iterator[str]:
    """Over HTTP, with two tokens."""
    config = tmp_path / "belljar.toml"
    entries = [f'[[tokens]]\nname = "{name}"\nenv = "{name.upper()}"\n' for name in TOKENS]
    config.write_text('[http]\nlisten = "127.0.0.1:0"\n' + "".join(entries))
    process = subprocess.Popen(
        [BELLJAR, "serve", "--config", config],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**{name.upper(): secret for name, secret in TOKENS.items()}),
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("{") and json.loads(line)["event"] == "started":
            yield json.loads(line)["listen"].removeprefix("http://").removesuffix("/mcp")
            break
    process.terminate()
    process.communicate(timeout=45)


def post(address: str, token: str, tool: str, **arguments: Any) -> dict[str, Any]:
    connection = http.client.HTTPConnection(address, timeout=60)
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {TOKENS[token]}",
    }
    connection.request("POST", "/mcp", json.dumps(body), headers)
    result: dict[str, Any] = json.loads(connection.getresponse().read())["result"]
    connection.close()
    return result


def metric(address: str, token: str) -> str:
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {TOKENS[token]}"})
    text = connection.getresponse().read().decode()
    connection.close()
    (line,) = [line for line in text.splitlines() if line.startswith("belljar_sessions_open ")]
    return line.split()[1]


def test_over_http_it_belongs_to_its_token(address):
    opened = post(address, "one", "execute_code", code="x = 1", session="new")
    session = opened["structuredContent"]["session"]["id"]
    again = post(address, "one", "execute_code", code="x", session=session)
    assert again["structuredContent"]["result"] == 1
    stolen = post(address, "two", "execute_code", code="x", session=session)
    unknown = post(address, "two", "execute_code", code="x", session="0" * 32)
    texts = [result["content"][0]["text"] for result in (stolen, unknown)]
    assert texts[0].replace(session, "0" * 32) == texts[1]
    assert "there is no session" in texts[1]
    assert post(address, "two", "list_sessions")["structuredContent"]["sessions"] == []
    assert post(address, "two", "close_session", session=session)["isError"]
    assert metric(address, "two") == "1"
    assert not post(address, "one", "close_session", session=session)["isError"]
    assert metric(address, "two") == "0"
