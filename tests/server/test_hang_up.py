"""A client that hangs up, over real sockets: in every era the program that it had run is ended
long before its own time limit, and the server goes on."""

import http.client
import json
import socket
import struct
from pathlib import Path

import pytest

from tests.clients.server import HttpServer, busiest, seconds_until_gone

# Of the program: a call that nobody cancels outlives the test's own wait.
RUN_TIMEOUT = 60
TIMEOUT = 30
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
STATELESS = "2026-07-28"


@pytest.fixture
def server(tmp_path: Path):
    server = HttpServer(tmp_path / "log")
    yield server
    server.stop()


def post(server: HttpServer, message: dict, headers: dict) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    headers = headers | {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    connection.request("POST", "/mcp", json.dumps(message), headers)
    return connection


def begin(server: HttpServer, revision: str) -> dict[str, str]:
    """What the headers of this client's further messages are."""
    if revision == STATELESS:
        return {
            "MCP-Protocol-Version": revision,
            "Mcp-Method": "tools/call",
            "Mcp-Name": "execute_code",
        }
    message = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    connection = post(server, message, {})
    answer = connection.getresponse()
    assert json.loads(answer.read())["result"]["protocolVersion"] == revision
    connection.close()
    headers = {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"]}
    if revision >= "2025-06-18":
        headers["MCP-Protocol-Version"] = revision
    return headers


def call(code: str, revision: str, progress: bool = False, number: int = 1) -> dict:
    params = {"name": "execute_code", "arguments": {"code": code, "timeout": RUN_TIMEOUT}}
    meta: dict = {"progressToken": 1} if progress else {}
    if revision == STATELESS:
        meta["io.modelcontextprotocol/protocolVersion"] = revision
        meta["io.modelcontextprotocol/clientCapabilities"] = {}
    if meta:
        params["_meta"] = meta
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def close(connection: http.client.HTTPConnection) -> None:
    connection.sock.close()


def reset(connection: http.client.HTTPConnection) -> None:
    linger = struct.pack("ii", 1, 0)
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    connection.sock.close()


@pytest.mark.parametrize("hang_up", [close, reset])
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_run_of_a_client_that_hung_up_is_ended(server, revision, hang_up) -> None:
    headers = begin(server, revision)
    connection = post(server, call("while True: pass", revision), headers)
    worker = busiest(server.pid)
    hang_up(connection)
    assert seconds_until_gone(worker, TIMEOUT) < TIMEOUT
    # The same session, which goes on: nothing of it ended but the call.
    # By another id: the first may be in use for a moment after its worker has ended.
    connection = post(server, call("result = 6 * 7", revision, number=2), headers)
    answer = json.loads(connection.getresponse().read())
    assert answer["result"]["structuredContent"]["result"] == 42
    connection.close()


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_stream_that_its_client_leaves_ends_the_run(server, revision) -> None:
    program = "print('begun', flush=True)\nwhile True: pass"
    connection = post(server, call(program, revision, True), begin(server, revision))
    answer = connection.getresponse()
    assert answer.headers["Content-Type"] == "text/event-stream"
    while b"begun" not in answer.readline():
        assert not answer.isclosed()
    worker = busiest(server.pid)
    answer.close()
    close(connection)
    assert seconds_until_gone(worker, TIMEOUT) < TIMEOUT


def test_there_is_no_way_to_resume(server) -> None:
    """What makes an answer without a connection undeliverable, by the protocol."""
    headers = begin(server, "2025-11-25") | {"Last-Event-ID": "1", "Accept": "text/event-stream"}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    connection.request("GET", "/mcp", headers=headers)
    assert connection.getresponse().status == 405
    connection.close()
