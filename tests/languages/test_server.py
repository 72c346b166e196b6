"""Languages of a server: what a call may name, and what it may not."""

import json
import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.machine import BELLJAR, need_layers


class Server:
    """One that offers bash, over standard input and output."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [BELLJAR, "serve", "--languages", "bash", "--profiles", "basic,network"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        client = {"name": "tests", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)

    def ask(self, method: str, **parameters: object) -> dict:
        assert self._process.stdin and self._process.stdout
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        print(json.dumps(message), file=self._process.stdin, flush=True)
        while True:
            answer = json.loads(self._process.stdout.readline())
            if answer.get("id") == 1:
                return answer["result"]

    def run(self, **arguments: object) -> str:
        result = self.ask("tools/call", name="execute_code", arguments=arguments)
        return result["content"][0]["text"]

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    need_layers("strict")
    server = Server()
    yield server
    server.close()


def test_a_call_may_name_what_is_enabled(server: Server) -> None:
    assert server.run(code="echo $((6 * 7))", language="bash") == "stdout:\n42"
    assert server.run(code="echo $((6 * 7))", language="sh") == "stdout:\n42"
    assert server.run(code="print(6 * 7)", language="python") == "stdout:\n42"


def test_the_network_is_that_of_the_profile(server: Server) -> None:
    proxy = "echo ${HTTP_PROXY:-none}"
    assert server.run(code=proxy, language="bash") == "stdout:\nnone"
    with_network = server.run(code=proxy, language="bash", profile="network")
    assert with_network.startswith("stdout:\nhttp://127.0.0.1:")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"language": "perl"}, 'language "perl" is not enabled on this server (python, bash)'),
        ({"language": "bsh"}, 'did you mean "bash"?'),
        ({"language": "bash", "allowed_imports": ["math"]}, "allowed_imports is for Python"),
        ({"language": "bash", "profile": "basic"}, 'profile "basic" is for Python'),
        ({"language": "bash", "use_container": True}, "use_container is true"),
    ],
)
def test_what_a_call_may_not(server: Server, arguments: dict, why: str) -> None:
    said = server.run(code="echo 1", **arguments)
    assert why in said and "Nothing was run" in said


def called(server: Server, tool: str, **arguments: object) -> dict:
    result = server.ask("tools/call", name=tool, arguments=arguments)
    return result["structuredContent"] if not result.get("isError") else {"why": text(result)}


def text(result: dict) -> str:
    return result["content"][0]["text"]


@pytest.fixture
def open_session(server: Server) -> Iterator[Callable[..., str]]:
    opened: list[str] = []

    def open_one(**terms: object) -> str:
        opened.append(called(server, "open_session", **terms)["session"])
        return opened[-1]

    yield open_one
    for session in opened:
        called(server, "close_session", session=session)


def test_a_session_of_a_language(server: Server, open_session: Callable[..., str]) -> None:
    session = open_session(language="bash")
    assert "printed nothing" in server.run(code="x=42", session=session)
    assert server.run(code="echo $x", session=session, language="sh") == "stdout:\n42"
    assert "f, 10 bytes" in server.run(code="echo from bash > f", session=session)
    assert server.run(code="1 + 1", session=session, language="python") == "value:\n2"


def test_a_session_of_several_languages(server: Server, open_session: Callable[..., str]) -> None:
    session = open_session()
    assert "printed nothing" in server.run(code="x = [1, 2]", session=session)
    assert server.run(code="echo hi; y=5", session=session, language="sh") == "stdout:\nhi"
    passed = called(server, "exchange", session=session, name="x", **{"from": "python"})
    assert passed == {"success": True, "session": session, "name": "x", "to": ["bash"]}
    assert server.run(code="echo ${x[1]}", session=session, language="bash") == "stdout:\n2"
    called(server, "exchange", session=session, name="z", value={"a": "b c"}, to=["bash", "python"])
    assert server.run(code="echo ${z[a]}", session=session, language="bash") == "stdout:\nb c"
    assert server.run(code="z['a']", session=session) == "value:\n'b c'"
    (listed,) = [e for e in called(server, "list_sessions")["sessions"] if e["session"] == session]
    assert listed["languages"] == ["python", "bash"]
    (branch,) = called(server, "checkpoint", session=session, action="branch")["branches"]
    assert server.run(code="echo ${y:-anew}", session=branch, language="bash") == "stdout:\nanew"
    assert server.run(code="x", session=branch) == "value:\n[1, 2]"
    called(server, "close_session", session=branch)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "send value or from, and not both"),
        ({"value": 1, "from": "python"}, "send value or from, and not both"),
        ({"name": "a b", "value": 1}, "an ASCII letter followed by"),
        ({"value": 1, "to": ["perl"]}, 'language "perl" is not enabled on this server'),
        ({"from": "bsh"}, 'did you mean "bash"?'),
        ({"from": "python"}, "the session has no other language so far"),
        ({"from": "bash"}, '"x" of bash cannot be read: exited with status 1'),
        ({"value": 1, "to": "bash"}, "must be an array of strings"),
    ],
)
def test_what_cannot_be_exchanged(
    server: Server, open_session: Callable[..., str], arguments: dict, why: str
) -> None:
    session = open_session()
    said = called(server, "exchange", **{"session": session, "name": "x", **arguments})
    assert why in said["why"]


def test_settings_of_a_cell_in_another_language(
    server: Server, open_session: Callable[..., str]
) -> None:
    session = open_session(allowed_imports=["math"])
    assert server.run(code="echo 1", session=session, language="bash") == "stdout:\n1"
    assert "BJ" in server.run(code="import json", session=session)
    fixed = server.run(code="echo 1", session=session, language="bash", memory_limit="65m")
    assert "memory_limit is fixed when a session is opened" in fixed
    stopped = server.run(code="while :; do :; done", session=session, language="bash", timeout=0.2)
    assert "stopped after 200ms" in stopped
    assert server.run(code="echo again", session=session, language="bash") == "stdout:\nagain"


# The operator's list of modules holds in the Python of a session that another language opened.
def test_python_in_a_session_of_bash_has_the_policy(
    server: Server, open_session: Callable[..., str]
) -> None:
    session = open_session(language="bash")
    refused = server.run(code="import socket", session=session, language="python")
    assert "BJ201" in refused
