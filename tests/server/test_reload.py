"""SIGHUP: a server reads its tokens again. And what it does with a terminal."""

import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from tests.clients.server import BELLJAR, HttpServer, end, environment
from tests.clocks import UNTIL_KILLED, until
from tests.server.test_events import Stream
from tests.server.test_rest import ANNA, BERT, ask, write_config

CLARA = "c" * 40
EVENTS = ("tokens_reloaded", "reload_failed")
CONFIG = """
[execution]
profiles = ["basic", "filesystem"]
concurrency = 1
[jobs]
store = "state/jobs.db"
"""


def tokens(*entries: str) -> str:
    return CONFIG + "".join(f"[[tokens]]\n{entry}\n" for entry in entries)


ANNA_, BERT_ = (f'name = "{name}"\nfile = "{name}.token"' for name in ("anna", "bert"))


class Reloadable(HttpServer):
    def __init__(self, folder: Path, text: str):
        self.folder = folder
        self.config = write_config(folder, text)
        super().__init__(folder / "log.txt", arguments=["--config", str(self.config)])

    def entries(self, *events: str) -> list[dict]:
        lines = self.log.read_text().splitlines()
        return [entry for entry in map(json.loads, lines) if entry["event"] in events]

    def reload(self, text: str | None = None) -> dict:
        """Sends the signal; returns the entry of the log that answers it."""
        if text is not None:
            self.config.write_text(text)
        known = len(self.entries(*EVENTS))
        self.process.send_signal(signal.SIGHUP)
        until(lambda: len(self.entries(*EVENTS)) > known, self.log.read_text)
        return self.entries(*EVENTS)[-1]

    def status(self, token: str | None) -> int:
        return ask(self, "GET", "/v1/limits", token=token).status


@pytest.fixture(autouse=True)
def not_ignored():
    """A server leaves the signal ignored that it finds so, as when these tests run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def server(tmp_path):
    server = Reloadable(tmp_path, tokens(ANNA_, BERT_))
    yield server
    if server.process.poll() is None:
        server.stop()


def test_a_secret_is_changed(server):
    assert (server.status(ANNA), server.status(CLARA)) == (200, 401)
    (server.folder / "anna.token").write_text(CLARA)
    entry = server.reload()
    assert (entry["tokens"], entry["changed"], entry["removed"]) == (["anna", "bert"], ["anna"], [])
    assert (server.status(ANNA), server.status(CLARA), server.status(BERT)) == (401, 200, 200)
    assert not {ANNA, BERT, CLARA} & set(server.log.read_text().split('"'))


def test_tokens_come_and_go(server):
    clara = server.folder / "clara.token"
    clara.touch(mode=0o600)
    clara.write_text(CLARA)
    entry = server.reload(tokens(ANNA_, 'name = "clara"\nfile = "clara.token"\noperator = true'))
    assert (entry["tokens"], entry["removed"]) == (["anna", "clara"], ["bert"])
    assert (server.status(ANNA), server.status(BERT), server.status(CLARA)) == (200, 401, 200)
    change = {"waiting": 7}
    assert ask(server, "PATCH", "/v1/limits", change, token=CLARA).status == 200
    server.reload(tokens('name = "clara"\nfile = "clara.token"'))
    assert ask(server, "PATCH", "/v1/limits", change, token=CLARA).status == 403


@pytest.mark.parametrize(
    "wrong",
    [
        "[[tokens",
        CONFIG,  # none at all: everyone would be a caller
        tokens('name = "anna"\nfile = "missing.token"'),
        tokens(ANNA_, ANNA_),
        tokens('name = "anna"\nfile = "open.token"'),
        tokens('name = "anna"\nfile = "short.token"'),
        tokens('name = "anna"\nfile = "anna.token"\nprofiles = ["full"]'),
        tokens('name = "<script>\\u001b[2J"\nfile = "anna.token"'),
        tokens(f'name = "anna"\nfile = "{CLARA}"'),
    ],
)
def test_what_cannot_be_used_changes_nothing(server, wrong):
    for name, mode, text in (("open", 0o644, CLARA), ("short", 0o600, "c" * 31)):
        file = server.folder / f"{name}.token"
        file.touch()
        file.chmod(mode)
        file.write_text(text)
    entry = server.reload(wrong)
    assert (entry["event"], entry["level"]) == ("reload_failed", "error")
    assert entry["why"] and "\x1b" not in entry["why"]
    assert CLARA not in server.log.read_text()
    assert [server.status(each) for each in (ANNA, BERT, CLARA)] == [200, 200, 401]
    # It is not stuck.
    assert server.reload(tokens(ANNA_))["event"] == "tokens_reloaded"
    assert (server.status(ANNA), server.status(BERT)) == (200, 401)


def test_a_server_without_tokens_gets_none(tmp_path):
    server = Reloadable(tmp_path, CONFIG)
    try:
        assert server.reload(tokens(ANNA_))["event"] == "reload_failed"
        assert server.status(None) == 200
    finally:
        server.stop()


def test_what_belonged_to_a_removed_token(tmp_path):
    operator = ANNA_ + "\noperator = true"
    server = Reloadable(tmp_path, tokens(operator, BERT_))
    try:
        remove_and_return(server, operator)
    finally:
        server.stop()


def submit(server, **body) -> str:
    answer = ask(server, "POST", "/v1/executions", body, token=BERT, Prefer="respond-async")
    assert answer.status == 202, answer.body
    return answer.headers["Location"]


def remove_and_return(server, operator):
    session = ask(server, "POST", "/v1/sessions", {}, token=BERT).headers["Location"]
    other = ask(server, "POST", "/v1/sessions", {}, token=ANNA).headers["Location"]
    stream, all_events = Stream(server, BERT), Stream(server, ANNA, caller="bert")
    # One runs, and the other waits for it to end.
    jobs = [submit(server, code=UNTIL_KILLED, timeout=5), submit(server, code="1")]
    stream.until("execution.started")
    assert server.reload(tokens(operator))["removed"] == ["bert"]
    # Whoever follows the events of a token that is no more is cut off.
    with pytest.raises(StopIteration):
        while True:
            assert stream.next()["type"] != "execution.ended"
    told = all_events.until("execution.ended") + [all_events.next()]
    assert {event["caller"] for event in told} == {"bert"}
    closed = [event for event in told if event["type"] == "session.closed"]
    assert [event["data"]["reason"] for event in closed] == ["its token was removed"]
    ended = all_events.next() if told[-1]["type"] == "execution.submitted" else told[-1]
    assert ended["type"] == "execution.refused"
    # The token comes back.
    server.reload(tokens(operator, BERT_))

    def states() -> list[str]:
        return [ask(server, "GET", job, token=BERT).json()["state"] for job in jobs]

    # A job's record follows its event. The program's timeout is an outcome.
    until(lambda: states() == ["succeeded", "failed"], states)
    cell = ask(server, "POST", f"{session}/cells", {"code": "1"}, token=BERT)
    assert cell.status == 404 and "its token was removed" in cell.json()["detail"]
    # Nobody else's.
    assert ask(server, "POST", f"{other}/cells", {"code": "1"}, token=ANNA).status == 200


def test_a_session_whose_profile_is_no_longer_permitted_is_closed(server):
    def open_session(profile: str) -> str:
        answer = ask(server, "POST", "/v1/sessions", {"profile": profile}, token=BERT)
        assert answer.status == 201, answer.body
        return answer.headers["Location"]

    kept, closed = open_session("basic"), open_session("filesystem")
    server.reload(tokens(ANNA_, BERT_ + '\nprofiles = ["basic"]'))
    cell = ask(server, "POST", f"{closed}/cells", {"code": "1"}, token=BERT)
    assert cell.status == 404 and "may no longer use its profile" in cell.json()["detail"]
    assert ask(server, "POST", f"{kept}/cells", {"code": "1"}, token=BERT).status == 200


def test_a_flood_of_signals_stops_nothing(server):
    (server.folder / "anna.token").write_text(CLARA)
    for _ in range(5000):
        server.process.send_signal(signal.SIGHUP)
    assert server.status(BERT) == 200
    assert (
        ask(server, "POST", "/v1/executions", {"code": "6 * 7"}, token=BERT).json()["result"] == 42
    )
    # The last one counts.
    (server.folder / "anna.token").write_text("d" * 40)
    server.process.send_signal(signal.SIGHUP)
    until(lambda: server.status("d" * 40) == 200)
    assert server.status(CLARA) == 401
    assert len(server.entries(*EVENTS)) < 100
    assert server.stop() == 0


def test_a_rate_is_not_refilled(server):
    slow = BERT_ + "\nrate = 0.001\nburst = 3"
    server.reload(tokens(ANNA_, slow))
    assert [server.status(BERT) for _ in range(4)] == [200, 200, 200, 429]
    for _ in range(3):
        server.reload()
        assert server.status(BERT) == 429
    server.reload(tokens(ANNA_, BERT_))
    assert server.status(BERT) == 200


# --- at a terminal --------------------------------------------------------------------------------


class AtATerminal:
    def __init__(self, *options: str):
        self.terminal, other = pty.openpty()
        self.process = subprocess.Popen(
            [BELLJAR, "serve", "--http", "127.0.0.1:0", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=other,
            env=environment(HOME="/nonexistent"),
        )
        os.close(other)
        self.lines = os.fdopen(self.terminal, "rb", buffering=0)

    def first_line(self) -> str:
        line = b""
        while not line.endswith(b"\n"):
            line += self.lines.read(1)
        return line.decode().rstrip()


def test_at_a_terminal_the_log_is_for_people():
    for options, is_text in (
        ((), True),
        (("--log-format", "json"), False),
        (("--log-format", "text"), True),
    ):
        server = AtATerminal(*options)
        line = server.first_line()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0
        server.lines.close()
        if is_text:
            assert " info started version=" in line and " profiles=basic " in line, line
            assert " listen=http://127.0.0.1:" in line
        else:
            assert json.loads(line)["event"] == "started"


def test_elsewhere_it_is_json():
    for options in ((), ("--log-format", "text")):
        process = subprocess.Popen(
            [BELLJAR, "serve", "--http", "127.0.0.1:0", *options],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(HOME="/nonexistent"),
        )
        line = process.stderr.readline()
        assert end(process, 60) == 0
        process.stderr.close()
        assert line.startswith("{") == (not options)


def test_a_server_ends_with_its_terminal():
    server = AtATerminal()
    server.first_line()
    # While it is there, the signal is one to read the tokens: there are none, and it goes on.
    server.process.send_signal(signal.SIGHUP)
    assert "tokens_reloaded" in server.first_line()
    server.lines.close()
    server.process.send_signal(signal.SIGHUP)
    assert server.process.wait(60) == 0
