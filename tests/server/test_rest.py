"""The HTTP API of a real server: files of sessions, what belongs to another token, and clients that
hang up."""

import http.client
import io
import json
import socket
import struct
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.server import HttpServer, busiest, seconds_until_gone
from tests.clocks import until
from tests.languages.conftest import need_language

TIMEOUT = 60
ANNA, BERT = "a" * 40, "b" * 40
TOKENS = """
[[tokens]]
name = "anna"
file = "anna.token"
[[tokens]]
name = "bert"
file = "bert.token"
"""
CONFIG = f"""
[execution]
profile = "filesystem"
{TOKENS}rate = 2
burst = 100
"""


def write_config(folder: Path, text: str) -> Path:
    """The configuration in `text`, with the files of both tokens beside it."""
    config = folder / "belljar.toml"
    config.write_text(text)
    for name, token in (("anna", ANNA), ("bert", BERT)):
        file = folder / f"{name}.token"
        file.touch(mode=0o600)
        file.write_text(token)
    return config


def serving(folder: Path, text: str) -> Iterator[HttpServer]:
    """A server with the configuration in `text`, for a fixture."""
    config = write_config(folder, text)
    server = HttpServer(folder / "log.txt", arguments=["--config", str(config)])
    yield server
    server.stop()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    yield from serving(tmp_path_factory.mktemp("server"), CONFIG)


class Answer:
    def __init__(self, response: http.client.HTTPResponse):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    def json(self):
        return json.loads(self.body)


def ask(server, method, path, body=None, token=ANNA, **headers) -> Answer:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers["Authorization"] = f"Bearer {token}"
    if isinstance(body, dict):
        headers["Content-Type"] = "application/json"
        body = json.dumps(body)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    try:
        connection.request(method, path, body, headers)
        return Answer(connection.getresponse())
    finally:
        connection.close()


@pytest.fixture
def session(server):
    answer = ask(server, "POST", "/v1/sessions", {})
    assert answer.status == 201
    path = answer.headers["Location"]
    yield path
    ask(server, "DELETE", path)


def lines_of(server: HttpServer, path: str, answers: list[object], **body) -> list[dict]:
    """A stream's lines; its questions are answered in this order."""
    stream = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    headers = {"Authorization": f"Bearer {ANNA}", "Content-Type": "application/json"}
    stream.request(
        "POST", path, json.dumps(body), headers | {"Accept": "application/json, application/jsonl"}
    )
    response = stream.getresponse()
    assert response.headers["Content-Type"].startswith("application/jsonl"), response.read()
    lines = []
    for line in response:
        lines.append(json.loads(line))
        if "input" in lines[-1]:
            number = lines[-1]["input"]["id"]
            # Nobody else's.
            assert ask(server, "POST", f"/v1/inputs/{number}", {"line": "b"}, BERT).status == 404
            answered = ask(server, "POST", f"/v1/inputs/{number}", answers.pop(0))
            assert (answered.status, answered.body) == (204, b"")
            assert ask(server, "POST", f"/v1/inputs/{number}", {"line": "2"}).status == 404
    stream.close()
    return lines


ASKS = "name = input('Name? ')\nprint('hello', name)\nlen(name)"


def test_a_program_asks_for_its_input_over_a_stream(server):
    lines = lines_of(server, "/v1/executions", [{"line": "Ada"}], code=ASKS)
    (asked,) = [line["input"] for line in lines if "input" in line]
    assert asked["prompt"] == "Name? "
    assert "".join(line.get("output", "") for line in lines) == "Name? hello Ada\n"
    execution = lines[-1]["execution"]
    assert (execution["stdout"], execution["result"]) == ("Name? hello Ada\n", 3)


def test_the_end_of_the_input_and_a_given_input(server):
    ended = lines_of(server, "/v1/executions", [{"end": True}], code=ASKS)
    assert ended[-1]["execution"]["error"]["type"] == "EOFError"
    given = lines_of(server, "/v1/executions", [], code=ASKS, stdin="Bob\n")
    assert given[-1]["execution"]["result"] == 3


def test_a_cell_asks_and_its_session_goes_on(server):
    session = ask(server, "POST", "/v1/sessions", {}).json()["session"]
    cells = f"/v1/sessions/{session}/cells"
    assert lines_of(server, cells, [{"line": "Ada"}], code=ASKS)[-1]["execution"]["result"] == 3
    assert ask(server, "POST", cells, {"code": "name"}).json()["result"] == "Ada"


def test_a_stream_of_what_cannot_run_is_a_problem(server):
    refused = ask(server, "POST", "/v1/executions", {"kode": "1"}, Accept="application/jsonl")
    assert (refused.status, refused.headers["Content-Type"]) == (422, "application/problem+json")
    key = {"Accept": "application/jsonl", "Idempotency_Key": "stream"}
    assert ask(server, "POST", "/v1/executions", {"code": "1"}, **key).status == 400
    wrong = ask(server, "POST", "/v1/inputs/1", {"line": 7})
    assert wrong.status == 422 and "line" in wrong.json()["detail"]
    for number in ("1", "0", "-1", "x", "99999999999999999999999"):
        assert ask(server, "POST", f"/v1/inputs/{number}", {"line": "a"}).status == 404


def test_who_hangs_up_ends_a_program_that_waits(server):
    body = json.dumps({"code": "input()\nwhile True: pass", "timeout": 60}).encode()
    head = (
        f"POST /v1/executions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {ANNA}\r\n"
        "Content-Type: application/json\r\nAccept: application/jsonl\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), TIMEOUT) as client:
        client.sendall(head.encode() + body)
        received = b""
        while b'"input"' not in received:
            received += client.recv(4096)
        number = json.loads(received.split(b'{"input":')[1].split(b"}")[0] + b"}")["id"]
        assert running(server) == 1
    until(lambda: not running(server))
    assert ask(server, "POST", f"/v1/inputs/{number}", {"line": "late"}).status == 404


def running(server: HttpServer) -> int:
    """Calls."""
    return ask(server, "GET", "/v1/statistics").json()["queue"]["running"]


def test_files_go_in_and_out(server, session):
    content = bytes(range(256)) * 4
    assert ask(server, "PUT", f"{session}/files/a/b%20%C3%BC.bin", content).status == 204
    code = "data = open('a/b ü.bin', 'rb').read()\nopen('copy', 'wb').write(data[::-1])\nlen(data)"
    cell = ask(server, "POST", f"{session}/cells", {"code": code}).json()
    assert (cell["status"], cell["result"]) == ("ok", len(content))
    listed = ask(server, "GET", f"{session}/files").json()["files"]
    assert {file["path"] for file in listed} == {"a/b ü.bin", "copy"}

    whole = ask(server, "GET", f"{session}/files/copy")
    assert (whole.status, whole.body) == (200, content[::-1])
    tag = whole.headers["ETag"]
    assert ask(server, "GET", f"{session}/files/copy", If_None_Match=tag).status == 304
    part = ask(server, "GET", f"{session}/files/copy", Range="bytes=10-19")
    assert (part.status, part.body) == (206, content[::-1][10:20])
    assert part.headers["Content-Range"] == f"bytes 10-19/{len(content)}"

    archive = ask(server, "GET", f"{session}/archive")
    with tarfile.open(fileobj=io.BytesIO(archive.body)) as tar:
        assert sorted(tar.getnames()) == ["a/b ü.bin", "copy"]
    assert ask(server, "DELETE", f"{session}/files/copy").status == 204
    assert ask(server, "GET", f"{session}/files/copy").status in (404, 409)


def test_a_file_of_text_is_what_it_was(server, session):
    text = "first\nsecond ü\n" * 2000
    assert ask(server, "PUT", f"{session}/files/long.txt", text.encode()).status == 204
    assert ask(server, "GET", f"{session}/files/long.txt").body.decode() == text
    assert ask(server, "PUT", f"{session}/files/empty", b"").status == 204
    assert ask(server, "GET", f"{session}/files/empty").body == b""


@pytest.mark.parametrize("path", ["..%2Fx", "a/../../x", "%2Fetc%2Fpasswd", "a//b", "."])
def test_paths_stay_in_the_workspace(server, session, path):
    assert ask(server, "PUT", f"{session}/files/{path}", b"x").status in (404, 409, 422)
    assert ask(server, "GET", f"{session}/files/{path}").status in (404, 409, 422)
    assert ask(server, "GET", f"{session}/files").json()["files"] == []


# What a program can put in the way, and where a client then writes, with what the answer says.
OBSTACLES = [
    ("import os\nos.symlink('/etc', 'd')", "d/x", "symbolic link"),
    ("import os\nos.symlink('.', 'd')", "d/e/x", "symbolic link"),
    ("import os\nos.mkdir('d')", "d", "folder"),
    ("open('d', 'w').write('x')", "d/x", "file"),
    ("open('d', 'wb').write(bytes(60 << 20))", "x" * 20, "full"),
]


@pytest.mark.parametrize(("code", "path", "what"), OBSTACLES)
def test_what_the_program_put_in_the_way_is_no_failure_of_the_server(
    server, session, code, path, what
):
    cell = ask(server, "POST", f"{session}/cells", {"code": code}).json()
    assert cell["status"] == "ok", cell
    content = b"x" * (5 << 20) if what == "full" else b"x"
    answer = ask(server, "PUT", f"{session}/files/{path}", content)
    assert answer.status == 409, answer.body
    assert what in answer.json()["detail"]
    assert path.split("/")[-1] in answer.json()["detail"]
    # Nor as files of a cell, which then does not run.
    files = [{"path": path, "text": content.decode()}]
    cell = ask(server, "POST", f"{session}/cells", {"code": "ran = 1", "files": files})
    assert cell.status == 409, cell.body
    assert what in cell.json()["detail"]
    assert ask(server, "GET", f"{session}/files/{path}").status in (404, 409)
    if what != "full":
        assert ask(server, "DELETE", f"{session}/files/{path}").status in (404, 409)
    # The session goes on, and other paths can be written.
    if what != "full":
        assert ask(server, "PUT", f"{session}/files/other", b"y").status == 204
    cell = ask(server, "POST", f"{session}/cells", {"code": "'ran' in globals()"}).json()
    assert (cell["status"], cell["result"]) == ("ok", False)


def test_a_link_itself_is_replaced(server, session):
    code = "import os\nos.symlink('/etc/passwd', 'd')\nos.symlink('/etc', 'e')"
    assert ask(server, "POST", f"{session}/cells", {"code": code}).json()["status"] == "ok"
    for path in ("d", "e"):
        assert ask(server, "PUT", f"{session}/files/{path}", b"ours").status == 204
        assert ask(server, "GET", f"{session}/files/{path}").body == b"ours"


def test_artifacts_belong_to_their_token(server):
    code = "open('out.txt', 'w').write('of anna')"
    outcome = ask(server, "POST", "/v1/executions", {"code": code}).json()
    (artifact,) = outcome["artifacts"]
    path = f"/v1/executions/{outcome['execution_id']}/artifacts/{artifact['name']}"
    mine = ask(server, "GET", path)
    assert (mine.status, mine.body) == (200, b"of anna")
    theirs = ask(server, "GET", path, token=BERT)
    nowhere = ask(server, "GET", path.replace("out.txt", "none.txt"), token=BERT)
    assert theirs.status == nowhere.status == 404
    assert theirs.json()["detail"].replace("out.txt", "none.txt") == nowhere.json()["detail"]


def test_sessions_belong_to_their_token(server, session):
    name = session.rsplit("/", 1)[1]
    for method, path, body in [
        ("GET", session, None),
        ("DELETE", session, None),
        ("POST", f"{session}/cells", {"code": "1"}),
        ("POST", f"{session}/interrupt", None),
        ("GET", f"{session}/checkpoints", None),
        ("POST", f"{session}/rollback", {}),
        ("POST", f"{session}/branches", {}),
        ("GET", f"{session}/files", None),
        ("PUT", f"{session}/files/x", b"x"),
        ("GET", f"{session}/archive", None),
    ]:
        theirs = ask(server, method, path, body, token=BERT)
        unknown = ask(server, method, path.replace(name, "0" * 32), body, token=BERT)
        assert theirs.status == unknown.status == 404, path
        assert theirs.json()["detail"].replace(name, "0" * 32) == unknown.json()["detail"]
    assert ask(server, "GET", "/v1/sessions", token=BERT).json()["sessions"] == []
    assert ask(server, "GET", session).status == 200


def test_keys_belong_to_their_token(server):
    body = {"code": "import random; random.random()"}
    first = ask(server, "POST", "/v1/executions", body, Idempotency_Key="k")
    again = ask(server, "POST", "/v1/executions", body, Idempotency_Key="k")
    theirs = ask(server, "POST", "/v1/executions", body, token=BERT, Idempotency_Key="k")
    assert again.body == first.body != theirs.body
    assert again.headers["Idempotency-Replayed"] == "true"
    assert theirs.headers["Idempotency-Replayed"] is None
    assert theirs.headers["RateLimit-Policy"] == '"token";q=100;w=50'


def test_a_token_is_needed(server):
    for path in ("/v1/executions", "/v1/sessions", "/v1/info", "/openapi.json"):
        assert ask(server, "GET", path, token="c" * 40).status == 401


def hang_up(server, path: str, body: dict) -> None:
    """Sends the request, waits until its program runs, and resets the connection."""
    text = json.dumps(body)
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT)
    connection.sendall(
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ANNA}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
    )
    worker = busiest(server.pid)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    assert seconds_until_gone(worker, 30) < 30


def test_programs_of_clients_that_hang_up_are_ended(server):
    endless = {"code": "while True: pass", "timeout": 60}
    hang_up(server, "/v1/executions", endless)
    hang_up(server, "/v1/batches", {"executions": [endless] * 20})
    until(lambda: not running(server))
    assert ask(server, "POST", "/v1/executions", {"code": "1 + 1"}).json()["result"] == 2


def test_a_session_of_several_languages(tmp_path: Path):
    need_language("bash")
    text = CONFIG.replace("[execution]", '[execution]\nlanguages = ["bash"]')
    for server in serving(tmp_path, text):
        path = ask(server, "POST", "/v1/sessions", {}).headers["Location"]
        ask(server, "POST", f"{path}/cells", {"code": "x = [1, 2]; open('f', 'w').write('py')"})
        bash = {"code": "cat f; echo sh > f", "language": "bash"}
        assert ask(server, "POST", f"{path}/cells", bash).json()["stdout"] == "py"
        passed = ask(server, "POST", f"{path}/exchange", {"name": "x", "from": "python"})
        assert (passed.status, passed.json()["to"]) == (200, ["bash"])
        bash["code"] = "echo ${x[1]}"
        assert ask(server, "POST", f"{path}/cells", bash).json()["stdout"] == "2\n"
        assert ask(server, "GET", f"{path}/files/f").body == b"sh\n"
        assert ask(server, "POST", f"{path}/exchange", {"name": "x"}).status == 422
        assert (
            ask(server, "POST", f"{path}/exchange", {"name": "x", "value": 1}, BERT).status == 404
        )


def test_it_can_be_turned_off(tmp_path: Path):
    config = tmp_path / "belljar.toml"
    config.write_text("[http]\nrest = false\n")
    server = HttpServer(tmp_path / "log.txt", arguments=["--config", str(config)])
    try:
        for path in ("/v1/info", "/openapi.json"):
            assert ask(server, "GET", path).status == 404
    finally:
        server.stop()
