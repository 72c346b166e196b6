"""Commands over the HTTP API of a real server: what an agent does in a shell, and attacks on the
server by whoever sends commands, or reads what they write."""

import base64
import http.client
import json
import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.clients.server import HttpServer, descendants, seconds_until_gone
from tests.clocks import until
from tests.languages.conftest import need_language
from tests.server.test_rest import ANNA, BERT, TIMEOUT, TOKENS, ask, serving

PLACES = 2
CONFIG = f"""
[execution]
languages = ["shell", "bash"]
concurrency = {PLACES}
[audit]
enabled = true
folder = "audit"
[sessions]
per_token = 8
{TOKENS}
"""
# No place in the queue, and forgotten by its callers: it ends with its session.
FOREVER = "sleep infinity"


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[HttpServer]:
    need_language("shell")
    yield from serving(tmp_path_factory.mktemp("commands"), CONFIG)


@pytest.fixture
def session(server) -> Iterator[str]:
    answer = ask(server, "POST", "/v1/sessions", {"language": "shell"})
    assert answer.status == 201, answer.body
    path = answer.headers["Location"]
    yield path
    ask(server, "DELETE", path)


def run(server, session, command, **more) -> dict[str, Any]:
    answer = ask(server, "POST", f"{session}/commands", {"command": command} | more)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.json()
    return found


def start(server, session, command, **more) -> str:
    """The path of a command in the background."""
    answer = run(server, session, command, background=True, **more)
    assert answer["success"], answer
    return f"{session}/commands/{answer['command']['id']}"


def state(server, path) -> dict[str, Any]:
    found: dict[str, Any] = ask(server, "GET", path).json()["command"]
    return found


def ended(server, path) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found = state(server, path)
        return found if found["state"] != "running" else None

    return until(look, f"the end of {path}")


def read_until(server, path, wanted: str, begin: int = 0, stream: str = "stdout") -> int:
    """Where the output that has it ends."""
    text = ""

    def look() -> bool:
        nonlocal text, begin
        query = f"{path}/output?begin={begin}&stream={stream}&wait=5"
        piece = ask(server, "GET", query).json()
        text, begin = text + piece["text"], piece["end"]
        return wanted in text

    until(look, lambda: f"{wanted!r} in {text!r}")
    return begin


def stream_of(server, path, accept="application/jsonl", **body) -> Any:
    """The connection, whose answer is still to be read."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    headers = {"Authorization": f"Bearer {ANNA}", "Content-Type": "application/json"}
    connection.request("POST", path, json.dumps(body), headers | {"Accept": accept})
    return connection


# --- what an agent does -------------------------------------------------------------------------


def test_a_line_and_a_program_with_arguments(server, session):
    done = run(server, session, "echo out; echo err >&2; exit 3")
    assert (done["stdout"], done["stderr"], done["exit_code"]) == ("out\n", "err\n", 3)
    assert (done["success"], done["status"]) == (False, "exception")
    assert done["command"]["state"] == "exited" and done["command"]["exit_code"] == 3
    assert done["session"] == {**done["session"], "id": session.rpartition("/")[2], "cell": 1}
    words = run(server, session, ["printf", "<%s>", "a b", "", "'"])
    assert (words["stdout"], words["command"]["id"]) == ("<a b><><'>", 2)
    assert words["command"]["line"] == "printf '<%s>' 'a b' '' ''\\'''"
    given = run(
        server, session, "cat; echo $NAME; pwd", stdin="in\n", env={"NAME": "x y"}, directory="/tmp"
    )
    assert given["stdout"] == "in\nx y\n/tmp\n"


def test_how_commands_end(server, session):
    assert run(server, session, "kill -9 $$")["command"]["signal"] == "SIGKILL"
    missing = run(server, session, ["no-such-program-7"])
    assert (missing["command"]["state"], missing["exit_code"]) == ("not_started", 127)
    assert "no-such-program-7" in missing["error"]["message"]
    late = run(server, session, "echo on; sleep 1000", timeout=0.5)
    assert (late["status"], late["command"]["state"]) == ("timeout", "timeout")
    assert late["stdout"] == "on\n"
    left = run(server, session, "sleep 1000 > /dev/null 2>&1 & echo left")
    assert left["command"]["background"] is True and left["stdout"] == "left\n"
    path = f"{session}/commands/{left['command']['id']}"
    assert ask(server, "DELETE", path).status == 204
    until(lambda: "background" not in state(server, path))


def test_files_of_the_session_are_those_of_its_commands(server, session):
    assert ask(server, "PUT", f"{session}/files/src/a.txt", b"1\n2\n").status == 204
    assert run(server, session, "wc -l < src/a.txt; echo made > b.txt")["stdout"] == "2\n"
    listed = ask(server, "GET", f"{session}/files").json()["files"]
    assert [each["path"] for each in listed] == ["b.txt", "src/a.txt"]
    assert ask(server, "GET", f"{session}/files/b.txt").body == b"made\n"
    assert ask(server, "DELETE", f"{session}/files/b.txt").status == 204
    assert run(server, session, ["ls"])["stdout"] == "src\n"


def test_a_command_in_the_background(server, session):
    path = start(server, session, "echo ready; read line; echo got $line; cat; echo over >&2")
    end = read_until(server, path, "ready\n")
    assert state(server, path)["state"] == "running"
    typed = ask(server, "POST", f"{path}/input", {"stdin": "typed\n"})
    assert typed.status == 200 and typed.json()["command"]["state"] == "running"
    end = read_until(server, path, "got typed\n", end)
    assert ask(server, "POST", f"{path}/input", {"stdin": "rest", "end": True}).status == 200
    assert ended(server, path)["exit_code"] == 0
    last = ask(server, "GET", f"{path}/output?begin={end}").json()
    assert (last["text"], last["begin"], last["last"]) == ("rest", end, True)
    errors = ask(server, "GET", f"{path}/output?stream=stderr").json()
    assert errors["text"] == "over\n"
    # Its standard input is closed.
    late = ask(server, "POST", f"{path}/input", {"stdin": "more"})
    assert late.status == 409 and "closed" in late.json()["detail"]
    listed = ask(server, "GET", f"{session}/commands").json()["commands"]
    assert [(each["id"], each["state"]) for each in listed] == [(1, "exited")]


def test_bytes_that_are_not_text(server, session):
    path = start(server, session, r"printf '\xff\x00a'; read x")
    until(lambda: state(server, path)["stdout"]["end"] == 3)
    piece = ask(server, "GET", f"{path}/output").json()
    assert base64.b64decode(piece["base64"]) == b"\xff\0a" and "text" not in piece
    # A character that has come only in part waits for its rest.
    half = start(server, session, r"printf 'a\xc3'; read x; printf '\xa4b'")
    until(lambda: state(server, half)["stdout"]["end"] == 2)
    begun = ask(server, "GET", f"{half}/output").json()
    assert (begun["text"], begun["end"]) == ("a", 1)
    ask(server, "POST", f"{half}/input", {"end": True})
    ended(server, half)
    assert ask(server, "GET", f"{half}/output?begin=1").json()["text"] == "äb"


def test_signals_and_the_end(server, session):
    path = start(server, session, "trap 'echo caught; exit 5' INT; echo on; while :; do read; done")
    read_until(server, path, "on\n")
    sent = ask(server, "POST", f"{path}/signals", {"signal": "INT"})
    assert sent.status == 200 and sent.json()["sent"] is True
    assert ended(server, path)["exit_code"] == 5
    assert ask(server, "POST", f"{path}/signals", {"signal": "SIGTERM"}).json()["sent"] is False
    for wrong in ("NOPE", "0", "65", "-1", ""):
        assert ask(server, "POST", f"{path}/signals", {"signal": wrong}).status == 422
    forever = start(server, session, FOREVER)
    assert ask(server, "DELETE", forever).status == 204
    assert ended(server, forever)["state"] == "killed"


def test_a_terminal(server, session):
    path = start(server, session, ["bash", "--norc", "-i"], terminal="90x30")
    ask(server, "POST", f"{path}/input", {"stdin": "stty size; tty\n"})
    end = read_until(server, path, "30 90\r\n")
    resized = ask(server, "POST", f"{path}/size", {"terminal": "100x40"})
    assert resized.status == 200
    ask(server, "POST", f"{path}/input", {"stdin": "stty size\n"})
    read_until(server, path, "40 100\r\n", end)
    for wrong in ("0x0", "80x0", "0x24", "65536x1", "80", "x", "-1x5", "80x24x1", ""):
        assert ask(server, "POST", f"{path}/size", {"terminal": wrong}).status == 422, wrong
        opened = ask(server, "POST", f"{session}/commands", {"command": "true", "terminal": wrong})
        assert opened.status == 422, wrong
    ask(server, "POST", f"{path}/input", {"end": True})  # as Ctrl-D
    assert ended(server, path)["state"] == "exited"
    plain = start(server, session, FOREVER)
    assert ask(server, "POST", f"{plain}/size", {"terminal": "80x24"}).status == 409


def test_a_stream_while_it_runs(server, session):
    line = r"echo on; read x; echo got $x; printf '\xff' >&2; exit 2"
    with closing(
        stream_of(server, f"{session}/commands", command=line, open_stdin=True)
    ) as connection:
        answer = connection.getresponse()
        assert answer.headers["Content-Type"].startswith("application/jsonl"), answer.read()
        assert json.loads(answer.readline()) == {"command": {"id": 1}}
        assert json.loads(answer.readline()) == {"stdout": "on\n"}
        typed = ask(server, "POST", f"{session}/commands/1/input", {"stdin": "it\n"})
        assert typed.status == 200
        lines = [json.loads(each) for each in answer]
    assert {"stdout": "got it\n"} in lines and {"stderr_base64": "/w=="} in lines
    assert lines[-1]["execution"]["command"]["exit_code"] == 2


def test_a_stream_of_events(server, session):
    with closing(
        stream_of(server, f"{session}/commands", "text/event-stream", command=["echo", "ä"])
    ) as connection:
        answer = connection.getresponse()
        assert answer.headers["Content-Type"].startswith("text/event-stream"), answer.read()
        events = answer.read().decode().split("\n\n")
    data = [json.loads(each.removeprefix("data: ")) for each in events if each]
    assert data[:2] == [{"command": {"id": 1}}, {"stdout": "ä\n"}]
    assert data[2]["execution"]["success"] is True


def test_a_repeated_request_runs_once(server, session):
    key = {"Idempotency_Key": "once"}
    body = {"command": "echo x >> log; wc -l < log"}
    first, second = (ask(server, "POST", f"{session}/commands", body, **key) for _ in range(2))
    assert first.body == second.body and first.json()["stdout"] == "1\n"
    assert second.headers["Idempotency-Replayed"] == "true"


def test_what_ran_is_in_the_audit_log(server, session):
    done = run(server, session, ["true", "seen-by-an-auditor"])
    background = run(server, session, "read x", background=True)
    receipt = f"/v1/executions/{background['execution_id']}/receipt"
    assert ask(server, "GET", receipt).status == 409  # it has not ended
    path = f"{session}/commands/{background['command']['id']}"
    assert ask(server, "POST", f"{path}/input", {"stdin": "x\n"}).status == 200
    assert ended(server, path)["exit_code"] == 0
    for execution in (done["execution_id"], background["execution_id"]):
        receipt = f"/v1/executions/{execution}/receipt"
        until(lambda receipt=receipt: ask(server, "GET", receipt).status == 200)
        assert ask(server, "GET", receipt).json()["payloadType"] == "application/vnd.in-toto+json"


# --- attacks ------------------------------------------------------------------------------------


def requests_about(session: str) -> list[tuple[str, str, dict[str, Any] | None]]:
    command = f"{session}/commands/1"
    return [
        ("POST", f"{session}/commands", {"command": "true"}),
        ("GET", f"{session}/commands", None),
        ("GET", command, None),
        ("GET", f"{command}/output", None),
        ("GET", f"{command}/output?wait=30", None),
        ("POST", f"{command}/input", {"stdin": "x"}),
        ("POST", f"{command}/signals", {"signal": "KILL"}),
        ("POST", f"{command}/size", {"terminal": "80x24"}),
        ("DELETE", command, None),
    ]


def test_a_session_of_another_owner_does_not_exist(server, session):
    path = start(server, session, FOREVER)
    unknown = "/v1/sessions/" + "0" * 32
    for theirs, nobodys in zip(requests_about(session), requests_about(unknown), strict=True):
        answers = [ask(server, *request, BERT) for request in (theirs, nobodys)]
        assert [each.status for each in answers] == [404, 404], theirs
        texts = [each.json()["detail"] for each in answers]
        assert texts[0].replace(session.rpartition("/")[2], "0" * 32) == texts[1]
    assert state(server, path)["state"] == "running"


def test_unknown_commands(server, session):
    for number in ("1", "7", "9007199254740992", "1.5"):
        for method, path, body in requests_about(session)[2:]:
            path = path.replace("/commands/1", f"/commands/{number}")
            assert ask(server, method, path, body).status == 404, (method, path)
    for number in ("0", "-1", "x", "nan", "inf", "1e400"):
        assert ask(server, "GET", f"{session}/commands/{number}").status == 422, number


def test_a_session_of_cells_has_no_commands(server):
    cells = ask(server, "POST", "/v1/sessions", {}).headers["Location"]
    for method, path, body in requests_about(cells):
        answer = ask(server, method, path, body)
        assert answer.status in (409, 422) and "cells" in answer.json()["detail"], path
    ask(server, "DELETE", cells)


def test_what_is_too_large_or_malformed(server, session):
    commands = f"{session}/commands"
    for body in (
        {},
        {"command": []},
        {"command": [""]},
        {"command": 7},
        {"command": ["ls", 7]},
        {"command": "a\0b"},
        {"command": "x" * (1 << 17)},
        {"command": ["x"] * 5000},
        {"command": ["echo"] + ["x" * 60_000] * 20},
        {"command": "true", "env": {"A=B": "x"}},
        {"command": "true", "env": {"A": "x" * (1 << 17)}},
        {"command": "true", "timeout": 1e9},
        {"command": "true", "timeout": 0},
        {"command": "true", "action": "kill"},
        {"command": "true", "id": 1},
        {"command": "true", "stdin": "x" * ((1 << 20) + 1)},
        {"command": "true", "directory": "/" + "x" * 5000},
    ):
        answer = ask(server, "POST", commands, body)
        assert answer.status == 422, (str(body)[:100], answer.status)
    path = start(server, session, FOREVER)
    for query in ("wait=31", "wait=-1", "begin=-1", "limit=0", "limit=2000000", "stream=stdin"):
        assert ask(server, "GET", f"{path}/output?{query}").status == 422, query
    assert ask(server, "POST", f"{path}/input", {}).status == 422
    missing = run(server, session, "pwd", directory="no/such/folder")
    assert missing["command"]["state"] == "not_started"


def test_at_most_so_many_run(server, session):
    first = start(server, session, FOREVER)
    for _ in range(63):
        start(server, session, FOREVER)
    refused = ask(server, "POST", f"{session}/commands", {"command": FOREVER, "background": True})
    assert refused.status == 409 and "64 commands" in refused.json()["detail"]
    assert ask(server, "DELETE", first).status == 204
    ended(server, first)
    start(server, session, FOREVER)


def test_what_takes_all_places_can_be_ended(server, session):
    """Calls that do not wait need no place in the queue."""
    connections = [stream_of(server, f"{session}/commands", command=FOREVER) for _ in range(PLACES)]
    answers = [connection.getresponse() for connection in connections]
    ids = [json.loads(each.readline())["command"]["id"] for each in answers]
    listed = ask(server, "GET", f"{session}/commands").json()["commands"]
    assert [each["state"] for each in listed] == ["running"] * PLACES
    for number, answer in zip(ids, answers, strict=True):
        assert ask(server, "DELETE", f"{session}/commands/{number}").status == 204
        (last,) = [json.loads(each) for each in answer]
        assert last["execution"]["command"]["state"] == "killed"
    for connection in connections:
        connection.close()


def test_an_input_that_nobody_reads(server, session):
    path = start(server, session, FOREVER)
    mebi = {"stdin": "x" * (1 << 20), "wait": 0}
    answers = [ask(server, "POST", f"{path}/input", mebi) for _ in range(4)]
    assert [answers[0].status, answers[-1].status] == [200, 503]
    assert "does not read" in answers[-1].json()["detail"]


def resident(server) -> int:
    return int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * os.sysconf(
        "SC_PAGE_SIZE"
    )


def test_a_flood_that_its_client_does_not_read(server, session):
    """The command waits for its reader, and the server keeps little; when the client goes, the
    command is killed."""
    connection = stream_of(server, f"{session}/commands", command="yes")
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    until(lambda: ask(server, "GET", f"{session}/commands").json()["commands"])
    path = f"{session}/commands/1"

    def is_stuck() -> bool:
        """Whether it writes nothing any more."""
        sizes = [state(server, path)["stdout"]["end"] for _ in range(6)]
        return sizes[0] > 0 and len(set(sizes)) == 1

    before = resident(server)
    until(is_stuck)
    assert state(server, path)["stdout"]["end"] < 64 << 20
    assert resident(server) - before < 64 << 20
    connection.close()
    assert ended(server, path)["state"] == "killed"


def test_a_flood_in_the_background_costs_little(server, session):
    before = resident(server)
    paths = [start(server, session, "yes & yes >&2") for _ in range(4)]
    for path in paths:
        until(lambda path=path: state(server, path)["stdout"]["begin"] > 32 << 20)
        kept = state(server, path)["stdout"]
        assert kept["end"] - kept["begin"] <= 256 << 10
    assert resident(server) - before < 64 << 20
    piece = ask(server, "GET", f"{paths[0]}/output?limit=10").json()
    assert piece["begin"] > 0 and piece["end"] - piece["begin"] == 10


def test_a_client_that_goes_away(server, session):
    """The command of a call that waits is killed; one in the background goes on."""
    forever = start(server, session, FOREVER)
    connection = stream_of(server, f"{session}/commands", "application/json", command=FOREVER)
    waiting = f"{session}/commands/2"
    until(lambda: ask(server, "GET", waiting).status == 200)
    connection.close()
    assert ended(server, waiting)["state"] == "killed"
    assert state(server, forever)["state"] == "running"


def text_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def test_nothing_outlives_the_session(server, session):
    start(server, session, "setsid sleep 987654 & sleep 987654")

    def found() -> list[int]:
        lines = {pid: Path(f"/proc/{pid}/cmdline") for pid in descendants(server.pid)}
        return [pid for pid, line in lines.items() if b"\x00987654\x00" in text_of(line)]

    mine = until(lambda: (pids := found()) and len(pids) == 2 and pids)
    assert ask(server, "DELETE", session).status == 204
    assert max(seconds_until_gone(pid, TIMEOUT) for pid in mine) < TIMEOUT


def test_the_operator_has_not_enabled_the_shell(tmp_path):
    for other in serving(tmp_path, f'[execution]\nlanguages = ["bash"]\n{TOKENS}'):
        paths = ask(other, "GET", "/openapi.json").json()["paths"]
        assert "/v1/sessions/{session}/files" in paths
        assert not [path for path in paths if "/commands" in path]
        refused = ask(other, "POST", "/v1/sessions", {"language": "shell"})
        assert refused.status == 422 and "not enabled" in refused.json()["detail"]


def test_a_token_that_may_not_use_the_shell(tmp_path):
    config = f'[execution]\nlanguages = ["shell"]\n{TOKENS}profiles = ["basic"]\n'
    for other in serving(tmp_path, config):
        assert ask(other, "POST", "/v1/sessions", {"language": "shell"}).status == 201
        refused = ask(other, "POST", "/v1/sessions", {"language": "shell"}, BERT)
        assert refused.status == 422 and "shell" in refused.json()["detail"]
