"""Sockets of a guest: by the proxy to allowed hosts, and nowhere else. The kernel holds this."""

from __future__ import annotations

import socket

import pytest

from tests.network import servers
from tests.network.conftest import PROGRAM
from tests.network.session import Session

TRY = """
import socket
def attempt(what):
    try:
        print("done", what() or "")
    except OSError as error:
        print(type(error).__name__)
"""


def echo(connection: socket.socket) -> None:
    while data := connection.recv(1 << 16):
        connection.sendall(data)


@pytest.fixture(scope="module")
def echo_port():
    with servers.tcp_server(echo) as port:
        yield port


def test_a_socket_connects_by_name(run, echo_port, policy):
    outcome = run(
        f"""
        import socket
        with socket.create_connection(("allowed.test", {echo_port}), timeout=10) as connection:
            connection.sendall(b"one")
            print(connection.recv(10))
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
            connection.connect(("www.allowed.test", {echo_port}))
            connection.sendall(b"two")
            print(connection.recv(10))
    """,
        policy=policy,
    )
    assert outcome.stdout == "b'one'\nb'two'\n"
    assert [event["protocol"] for event in outcome.network] == ["socks5", "socks5"]


def test_what_is_refused_says_so(run, echo_port, policy):
    outcome = run(
        f"""
        import socket
        for host, port in [("denied.test", {echo_port}), ("allowed.test", 1)]:
            try:
                socket.create_connection((host, port), timeout=10)
            except OSError as error:
                print(type(error).__name__)
    """,
        policy=policy,
    )
    assert outcome.stdout == "PermissionError\nConnectionRefusedError\n"


def test_scanning_finds_the_egress_proxy_and_nothing_else(run, echo_port):
    outcome = run(
        TRY
        + f"""
import _socket
found = []
for port in [*range(1, 200), 1080, {echo_port}]:
    plain = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        plain.connect(("127.0.0.1", port))
        found.append(port)
    except OSError:
        pass
    plain.close()
print(found)
for address in ["10.0.0.1", "169.254.169.254", "192.0.2.1"]:
    plain = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    plain.settimeout(1)
    attempt(lambda: plain.connect((address, 80)))
""",
        policy="off",
    )
    assert outcome.stdout.splitlines()[0] == "[1080]"
    assert "done" not in outcome.stdout


KINDS = {
    "unix": "AF_UNIX, SOCK_STREAM",
    "ipv6": "AF_INET6, SOCK_STREAM",
    "datagrams": "AF_INET, SOCK_DGRAM",
    "raw": "AF_INET, SOCK_RAW, 1",
    "packets": "AF_PACKET, SOCK_RAW",
    "netlink": "AF_NETLINK, SOCK_RAW",
    "kernel crypto": "AF_ALG, SOCK_SEQPACKET",
    "vsock": "AF_VSOCK, SOCK_STREAM",
    "mptcp": "AF_INET, SOCK_STREAM, 262",
    "sctp": "AF_INET, SOCK_STREAM, 132",
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_no_other_kind_of_socket_can_be_made(run, kind):
    arguments = ", ".join(
        part if part.isdecimal() else f"_socket.{part}" for part in kind.split(", ")
    )
    program = TRY + f"import _socket\nattempt(lambda: _socket.socket({arguments}).close())\n"
    outcome = run(program, policy="off")
    assert outcome.stdout == "PermissionError\n"


def test_options_that_no_library_needs_are_refused(run):
    options = {
        "SO_ATTACH_FILTER": "1, 26, bytes(16)",
        "SO_BINDTODEVICE": "1, 25, b'lo'",
        "SO_RCVBUFFORCE": "1, 33, 1 << 20",
        "IP_OPTIONS": "0, 4, bytes(4)",
        "TCP_ULP": "6, 31, b'tls'",
        "TCP_REPAIR": "6, 19, 1",
        "TCP_CONGESTION": "6, 13, b'reno'",
        "TCP_FASTOPEN": "6, 23, 1",
    }
    program = TRY + "plain = socket.socket()\n"
    for values in options.values():
        program += f"attempt(lambda: plain.setsockopt({values}))\n"
    program += "attempt(lambda: plain.setsockopt(6, 1, 1))\n"
    program += "attempt(lambda: plain.setsockopt(1, 9, 1))\n"
    outcome = run(program, policy="off")
    assert outcome.stdout.splitlines() == ["PermissionError"] * len(options) + ["done "] * 2


def test_a_guest_serves_nobody(run):
    outcome = run(
        TRY
        + """
plain = socket.socket()
attempt(lambda: plain.bind(("127.0.0.1", 0)))
attempt(lambda: plain.bind(("0.0.0.0", 8000)))
attempt(lambda: plain.listen())
attempt(lambda: plain.accept())
""",
        policy="off",
    )
    assert outcome.stdout == "PermissionError\n" * 4


def test_what_the_egress_proxy_is_sent_wrongly_is_refused(run, echo_port):
    outcome = run(
        TRY
        + f"""
import _socket
def say(data):
    plain = _socket.socket()
    plain.settimeout(5)
    plain.connect(("127.0.0.1", 1080))
    plain.send(data)
    plain.shutdown(1)
    print(plain.recv(12))
line = b"POST http://allowed.test:{echo_port}/ HTTP/1.1\\r\\n"
say(line + b"Content-Length: 3\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n")
say(line + b"X: a\\r\\n b\\r\\n\\r\\n")
say(line + b"Content-Length: 1\\r\\nContent-Length: 2\\r\\n\\r\\n")
say(b"GET / HTTP/1.1\\r\\nHost: allowed.test:{echo_port}\\r\\n\\r\\n")
say(b"CONNECT denied.test:22 HTTP/1.1\\r\\nHost: allowed.test:{echo_port}\\r\\n\\r\\n")
say(b"CONNECT 127.0.0.1:{echo_port} HTTP/1.1\\r\\n\\r\\n")
""",
        policy="off",
    )
    answers = [line[2:14] for line in outcome.stdout.splitlines()]
    assert answers == ["HTTP/1.1 400"] * 4 + ["HTTP/1.1 403"] * 2
    assert not any(event["allowed"] for event in outcome.network)


SEND_A_FILE = """
import socket
data = bytes(range(250)) * 240
with open("one", "wb") as file: file.write(data)
with socket.create_connection(("allowed.test", PORT), timeout=30) as connection:
    with open("one", "rb") as file: sent = connection.sendfile(file)
    connection.shutdown(socket.SHUT_WR)
    received = b""
    while more := connection.recv(1 << 16): received += more
print(sent, received == data)
"""


def test_a_file_is_sent_without_sendfile(echo_port, policy):
    """Which would move pages of the page cache into the socket: profiles/seccomp.toml."""
    session = Session(
        PROGRAM,
        *("--profile", "filesystem+network", "--policy", policy),
        BELLJAR_NETWORK_ALLOWED_DOMAINS="allowed.test:*",
        BELLJAR_NETWORK_ALLOW_PRIVATE="127.0.0.1",
        BELLJAR_NETWORK_RESOLVE="allowed.test=127.0.0.1",
    )
    try:
        outcome = session.run(SEND_A_FILE.replace("PORT", str(echo_port)))
    finally:
        session.close()
    assert outcome["stdout"] == "60000 True\n", outcome
    assert outcome["security_events"] == []
