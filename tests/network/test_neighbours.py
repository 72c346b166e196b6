"""Two runs at the same time in one server: a narrow one comes to nothing of the wide one's.

The jail alone: the policy is off.
"""

from __future__ import annotations

import threading

import pytest

from tests.network import servers
from tests.network.conftest import DOMAINS

# Through a server that both may reach: says a word, and waits for another's.
MEET = """
import socket
def meet(word, other):
    with socket.create_connection(("allowed.test", MEETING), timeout=60) as connection:
        connection.sendall(word + b" " + other)
        assert connection.recv(100) == b"said"
"""

# The connections among the descriptors that a process has; what they are to stays open.
CONNECTIONS = """
import _socket
def connections():
    for fd in range(3, 64):
        try:
            one = _socket.socket(fileno=fd)
        except OSError:
            continue
        if one.family != _socket.AF_UNIX:
            yield one.getpeername()
        one.detach()
"""

# Opens a connection to what only it may reach, and keeps it open while the other one looks.
WIDE = """
mine = socket.create_connection(("www.allowed.test", PORT), timeout=20)
mine.sendall(b"GET /wide HTTP/1.0\\r\\n")
meet(b"wide", b"looked")
mine.sendall(b"\\r\\n")
print(mine.recv(12).decode())
"""

# Everything by which one process could come to another's socket or listener.
NARROW = """
import os
meet(b"narrow", b"wide")
found = []
def attempt(name, what):
    try:
        what()
        found.append(name)
    except (OSError, ValueError) as error:
        print(name, type(error).__name__)

def ask(line):
    plain = _socket.socket()
    plain.settimeout(5)
    plain.connect(("127.0.0.1", 1080))
    plain.send(line)
    if not plain.recv(100).startswith(b"HTTP/1.1 200"):
        raise PermissionError
def by_name():
    ask(b"CONNECT www.allowed.test:PORT HTTP/1.1\\r\\n\\r\\n")
attempt("the egress proxy, for what the other may", by_name)
attempt("the library, for what the other may",
        lambda: socket.create_connection(("www.allowed.test", PORT), timeout=5))
found += connections()
for pid in range(2, 400):
    attempt("another process's descriptors", lambda: os.listdir(f"/proc/{pid}/fd"))
    attempt("another process's descriptor", lambda: os.open(f"/proc/{pid}/fd/3", os.O_RDWR))
attempt("connections in /proc", lambda: open("/proc/net/tcp").read())
attempt("an abstract socket", lambda: _socket.socket(_socket.AF_UNIX).connect("\\0belljar"))
attempt("a pair", lambda: _socket.socketpair())
attempt("the loopback of the other's", lambda: _socket.socket().connect(("127.0.0.2", 1080)))
attempt("every address", lambda: _socket.socket().connect(("0.0.0.0", PORT)))
for port in range(1081, 1100):
    attempt("another egress proxy", lambda: _socket.socket().connect(("127.0.0.1", port)))
meet(b"looked", b"looked")
print(found)
"""


@pytest.fixture(scope="module")
def meeting():
    """Each says a word, and is answered once the other one that it names is said."""
    said: set[bytes] = set()
    changed = threading.Condition()

    def serve(connection):
        word, other = connection.recv(100).split()
        with changed:
            said.add(word)
            changed.notify_all()
            changed.wait_for(lambda: other in said, timeout=60)
        connection.sendall(b"said" if other in said else b"alone")

    with servers.tcp_server(serve) as port:
        yield port


def test_a_narrow_run_reaches_nothing_of_a_wide_one(sessions, http, meeting):
    session = sessions(DOMAINS, "127.0.0.1", "off")

    def start(program, **arguments):
        text = (
            (MEET + CONNECTIONS + program)
            .replace("MEETING", str(meeting))
            .replace("PORT", str(http))
        )
        return session.start(text, timeout=60, **arguments)

    wide = start(WIDE)
    narrow = start(NARROW, allowed_domains=[f"allowed.test:{meeting}"])
    # The control is the wide one: the same server, the same egress proxy's port, and it is reached.
    assert wide.result(100)["stdout"] == "HTTP/1.1 200\n", wide.result()["error"]
    outcome = narrow.result(100)
    assert outcome["status"] == "ok", outcome["error"]
    assert outcome["stdout"].splitlines()[-1] == "[]"
    reached = {event["port"] for event in outcome["network"] if event["allowed"]}
    assert reached == {meeting}
    assert "not among the allowed domains of this call" in str(outcome["network"])
    # And the record of each is its own.
    assert http not in reached
    assert {event["port"] for event in wide.result()["network"]} == {meeting, http}


def test_nothing_is_left_for_the_next(run, http):
    """A connection that a run leaves open is closed; who comes next has a proxy of its own."""
    leave = f"""
        import socket
        kept = socket.create_connection(("allowed.test", {http}), timeout=10)
        print(kept.fileno())
    """
    look = CONNECTIONS + "print(list(connections()))"
    control = f"import socket\nkept = socket.create_connection(('allowed.test', {http}))\n" + look
    assert run(control, policy="off").stdout == "[('127.0.0.1', 1080)]\n"
    for _ in range(5):
        left = run(leave, policy="off")
        (event,) = left.network
        assert event["allowed"]
        outcome = run(look, policy="off")
        assert (outcome.stdout, outcome.network) == ("[]\n", [])
