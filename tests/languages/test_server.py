"""Languages of a server: what a call may name, and what it may not."""

import json
import subprocess
from collections.abc import Iterator

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


def test_a_session_of_a_language(server: Server) -> None:
    opened = server.ask("tools/call", name="open_session", arguments={"language": "bash"})
    session = opened["structuredContent"]["session"]
    assert "printed nothing" in server.run(code="x=42", session=session)
    assert server.run(code="echo $x", session=session, language="sh") == "stdout:\n42"
    assert "this one runs Bash" in server.run(code="1", session=session, language="python")
    python = server.ask("tools/call", name="open_session", arguments={})
    named = python["structuredContent"]["session"]
    assert "this one runs Python" in server.run(code="1", session=named, language="bash")
