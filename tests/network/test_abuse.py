"""The egress proxy under a guest that means ill: the jail alone, the policy off."""

from __future__ import annotations

import pytest

ASK = """
import _socket, time
def connect():
    plain = _socket.socket()
    plain.settimeout(15)
    plain.connect(("127.0.0.1", 1080))
    return plain
def everything(plain):
    got = b""
    while True:
        try:
            more = plain.recv(1 << 16)
        except OSError as error:
            return got + type(error).__name__.encode()
        if not more:
            return got
        got += more
"""


@pytest.fixture
def abuse(run):
    def start(program, **arguments):
        return run(ASK + program, policy="off", **arguments)

    return start


@pytest.mark.parametrize(
    "second",
    ["GET http://denied.test:PORT/ HTTP/1.1\\r\\n\\r\\n",
     "CONNECT denied.test:PORT HTTP/1.1\\r\\n\\r\\n",
     "GET / HTTP/1.1\\r\\nHost: denied.test\\r\\n\\r\\n"],
    ids=["another URL", "a tunnel", "another Host"],
)  # fmt: skip
def test_a_connection_is_for_one_request(abuse, http, second):
    """The first request is answered, and is all that reaches a host."""
    request = (
        f"GET http://allowed.test:{http}/first HTTP/1.1\\r\\nConnection: keep-alive\\r\\n\\r\\n"
    )
    outcome = abuse(f"""
plain = connect()
plain.send(b"{request}{second.replace("PORT", str(http))}")
answer = everything(plain)
print(answer.count(b"HTTP/1.1 "), answer.count(b'"path": "/first"'), answer.count(b"denied"))
""")
    assert outcome.stdout == "1 1 0\n"
    (event,) = outcome.network
    assert event["host"] == "allowed.test"


@pytest.mark.parametrize(
    "head",
    ["Content-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n",
     "Content-Length: 5\\r\\nContent-Length: 6\\r\\n",
     "Content-Length: 5\\r\\nContent-Length: 5\\r\\n",
     "Content-Length: +5\\r\\n",
     "Content-Length: 5, 5\\r\\n",
     "Content-Length: 0x5\\r\\n",
     "Transfer-Encoding: chunked\\r\\nTransfer-Encoding: identity\\r\\n",
     "Transfer-Encoding: xchunked\\r\\n",
     "Transfer-Encoding: \\x0bchunked\\r\\n",
     "Transfer-Encoding : chunked\\r\\n",
     "X: a\\r\\n Transfer-Encoding: chunked\\r\\n",
     "X: a\\nTransfer-Encoding: chunked\\r\\n",
     "X: a\\rTransfer-Encoding: chunked\\r\\n",
     "Host: allowed.test\\r\\nHost: denied.test\\r\\n",
     "X\\0: a\\r\\n"],
)  # fmt: skip
def test_what_two_readers_read_differently_goes_nowhere(abuse, http, head):
    outcome = abuse(f"""
plain = connect()
plain.send(b"POST http://allowed.test:{http}/ HTTP/1.1\\r\\n{head}\\r\\nhello0\\r\\n\\r\\n")
print(everything(plain)[:12])
""")
    assert outcome.stdout == "b'HTTP/1.1 400'\n"
    assert not any(event["allowed"] for event in outcome.network)


def test_the_control_the_same_request_without_it_goes_through(abuse, http):
    outcome = abuse(f"""
plain = connect()
plain.send(b"POST http://allowed.test:{http}/ HTTP/1.1\\r\\nContent-Length: 5\\r\\n\\r\\nhello")
print(everything(plain)[:12])
""")
    assert outcome.stdout == "b'HTTP/1.1 200'\n"


def test_the_host_that_was_judged_is_the_host_that_is_told(abuse, http):
    outcome = abuse(f"""
plain = connect()
plain.send(b"GET http://allowed.test:{http}/ HTTP/1.1\\r\\nHost: denied.test\\r\\n\\r\\n")
answer = everything(plain)
print(b'"host": "allowed.test:{http}"' in answer, b"denied" in answer)
""")
    assert outcome.stdout == "True False\n"


def test_chunks_are_made_anew(abuse, http):
    """Extensions and trailers, where readers differ, do not go on."""
    outcome = abuse(f"""
plain = connect()
head = b"POST http://allowed.test:{http}/ HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
plain.send(head + b"5;a=b\\r\\nhello\\r\\n0\\r\\nX-Trailer: 1\\r\\n\\r\\n")
print(everything(plain)[:12])
for body in (b"5;a\\nb\\r\\nhello\\r\\n0\\r\\n\\r\\n", b"-5\\r\\nhello\\r\\n0\\r\\n\\r\\n",
             b"0x5\\r\\nhello\\r\\n0\\r\\n\\r\\n", b"fffffffffffffffff\\r\\nhello"):
    plain = connect()
    plain.send(head + body)
    print(b"200" in everything(plain)[:12])
""")
    assert outcome.stdout.splitlines() == ["b'HTTP/1.1 200'"] + ["False"] * 4


def test_ports_are_not_scanned_for_nothing(abuse, http):
    """256 attempts, on the record up to its bound; then the egress proxy is closed."""
    outcome = abuse(f"""
open_ports, asked = [], 0
for port in range({http} - 20, {http} + 1000):
    try:
        plain = connect()
        plain.send(b"CONNECT allowed.test:%d HTTP/1.1\\r\\n\\r\\n" % port)
        answer = plain.recv(12)
        if not answer:  # closed before the request arrived: otherwise it would be reset
            break
        if answer == b"HTTP/1.1 200":
            open_ports.append(port)
        plain.close()
        asked += 1
    except OSError:
        break
print({http} in open_ports, asked)
""")
    assert outcome.stdout == "True 256\n"
    assert len(outcome.network) == 200
    assert outcome.json["truncated"]["network"] == 57


def test_ten_thousand_connections(abuse):
    outcome = abuse("""
kept, ends = [], {}
for _ in range(10_000):
    try:
        plain = _socket.socket()
        plain.setblocking(False)
        plain.connect_ex(("127.0.0.1", 1080))
        kept.append(plain)
    except OSError as error:
        ends[error.errno] = ends.get(error.errno, 0) + 1
        kept.clear()
print(sum(ends.values()) > 0)
""")
    assert outcome.stdout == "True\n"
    assert len(outcome.network) <= 200


def test_those_that_only_begin_are_cut_off(abuse, http):
    """Slow ones: the egress proxy waits ten seconds for a request, whatever drips in meanwhile."""
    outcome = abuse(
        f"""
slow = [connect() for _ in range(8)]
begin = time.monotonic()  # clock: four times what the egress proxy waits
line = b"GET http://allowed.test:{http}/ HTTP/1.1\\r\\nX: "
cut = 0
for plain in slow:
    plain.send(line)
while slow and time.monotonic() - begin < 40:  # clock: as above
    time.sleep(0.5)  # sleeps: it drips
    for plain in slow[:]:
        try:
            plain.send(b"a")
            plain.setblocking(False)
            if plain.recv(1) == b"":
                raise ConnectionResetError
        except BlockingIOError:
            pass
        except OSError:
            slow.remove(plain)
            cut += 1
print(cut)
plain = connect()
plain.send(b"GET http://allowed.test:{http}/ HTTP/1.1\\r\\n\\r\\n")
print(everything(plain)[:12])
""",
        timeout=60,
    )
    assert outcome.stdout == "8\nb'HTTP/1.1 200'\n"


def test_half_open_connections_hold_up_nobody(abuse, http):
    """Sixteen places, taken while one side is open; each is given back with its end."""
    outcome = abuse(f"""
tunnel = b"CONNECT allowed.test:{http} HTTP/1.1\\r\\n\\r\\n"
half = []
for _ in range(16):
    plain = connect()
    plain.send(tunnel)
    plain.recv(100)
    half.append(plain)
plain = connect()
plain.send(tunnel)
print(plain.recv(12))
for plain in half:
    plain.shutdown(_socket.SHUT_WR)
for plain in half:
    everything(plain)
plain = connect()
plain.send(tunnel)
print(plain.recv(12))
""")
    assert outcome.stdout == "b'HTTP/1.1 503'\nb'HTTP/1.1 200'\n"


def test_what_is_sent_is_bounded(abuse, http):
    outcome = abuse(f"""
plain = connect()
plain.send(b"CONNECT allowed.test:{http} HTTP/1.1\\r\\n\\r\\n")
plain.recv(100)
block, sent = bytes(1 << 20), 0
plain.send(b"POST / HTTP/1.1\\r\\nContent-Length: %d\\r\\n\\r\\n" % (1 << 30))
try:
    while sent < 1 << 30:
        sent += plain.send(block)
except OSError as error:
    print(type(error).__name__ in ("BrokenPipeError", "ConnectionResetError"))
""")
    assert outcome.stdout == "True\n"
    (event,) = outcome.network
    assert "more bytes than a run may send" in event["detail"]
    assert 60 << 20 < event["bytes_sent"] <= 64 << 20
