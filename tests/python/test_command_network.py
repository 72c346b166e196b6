"""The loopback of a session of the shell: what works on it, and that nobody else reaches it, nor
it anybody else. Each attack has a control that succeeds, here or in the session itself."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from pathlib import Path

import belljar
import pytest

from tests.clocks import until
from tests.languages.conftest import need_language

PYTHON = "/usr/bin/python3"
TALK = """
import socket, sys, threading
family, kind, address = getattr(socket, sys.argv[1]), getattr(socket, sys.argv[2]), sys.argv[3]
server = socket.socket(family, kind)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind((address, 0))
client = socket.socket(family, kind)
if kind == socket.SOCK_STREAM:
    server.listen()
    client.connect(server.getsockname())
    taken, _ = server.accept()
    taken.sendall(b"hello")
else:
    client.bind((address, 0))
    server.sendto(b"hello", client.getsockname())
print(client.recv(100).decode())
"""
# Prints the name of the error, or WON.
TRY = """
import errno, socket, sys
def attempt(act):
    try:
        act()
        print("WON")
    except OSError as error:
        print(errno.errorcode.get(error.errno, error.errno))
"""
SERVER = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print(server.getsockname()[1], flush=True)
while True:
    server.accept()[0].sendall(b"mine")
"""
HAS_IPV6 = Path("/proc/net/if_inet6").exists() and "lo" in Path("/proc/net/if_inet6").read_text()


@pytest.fixture(scope="module")
def box() -> Iterator[belljar.Sandbox]:
    need_language("shell")
    with belljar.Sandbox(language="shell") as box:
        yield box


@pytest.fixture
def session(box: belljar.Sandbox) -> Iterator[belljar.Session]:
    with box.session() as session:
        yield session


def python(session: belljar.Session, source: str, *arguments: str) -> belljar.CommandResult:
    return session.command([PYTHON, "-c", source, *arguments])


def serve(session: belljar.Session, port: int = 0) -> tuple[belljar.Command, int]:
    command = session.spawn([PYTHON, "-c", SERVER, str(port)])
    return command, int(command.read().content)


def connect(session: belljar.Session, address: str, port: int) -> str:
    act = f"attempt(lambda: socket.create_connection(({address!r}, {port}), 10))"
    return python(session, TRY + act).stdout.strip()


# --- what works -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
@pytest.mark.parametrize(("family", "address"), [("AF_INET", "127.0.0.1"), ("AF_INET6", "::1")])
def test_servers_and_clients(
    family: str, address: str, kind: str, session: belljar.Session
) -> None:
    if family == "AF_INET6" and not HAS_IPV6:
        pytest.skip("this machine has no IPv6")
    assert python(session, TALK, family, kind, address).stdout == "hello\n"


def test_commands_reach_each_other(session: belljar.Session) -> None:
    command, port = serve(session)
    assert connect(session, "127.0.0.1", port) == "WON"
    assert connect(session, "localhost", port) == "WON"
    assert connect(session, "127.0.0.1", port + 1 if port < 65535 else 1024) == "ECONNREFUSED"
    command.kill()
    until(lambda: connect(session, "127.0.0.1", port) == "ECONNREFUSED")


def test_low_ports_take_a_right_that_nobody_has(session: belljar.Session) -> None:
    assert python(session, TRY + "attempt(lambda: socket.create_server(('', 80)))").stdout in {
        "EACCES\n",  # unless the machine lets everybody (net.ipv4.ip_unprivileged_port_start)
        "WON\n",
    }
    assert python(session, TRY + "attempt(lambda: socket.create_server(('', 8080)))").stdout == (
        "WON\n"
    )


def test_names_of_itself(session: belljar.Session) -> None:
    script = """
import socket
print(sorted({found[4][0] for found in socket.getaddrinfo("localhost", 80)}))
print(socket.gethostbyname(socket.gethostname()), socket.getfqdn("127.0.0.1"))
try:
    socket.getaddrinfo("example.org", 80)
except socket.gaierror as error:
    print(error.errno in (socket.EAI_NONAME, socket.EAI_AGAIN))
"""
    addresses, names, unknown = python(session, script).stdout.splitlines()
    assert "127.0.0.1" in addresses and names == "127.0.0.1 localhost" and unknown == "True"


def test_many_connections_at_once(session: belljar.Session) -> None:
    script = """
import asyncio
async def answer(reader, writer):
    writer.write(await reader.readexactly(4))
    await writer.drain()
    writer.close()
async def ask(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"ping")
    answer = await reader.read()
    writer.close()
    return answer
async def main():
    async with await asyncio.start_server(answer, "127.0.0.1", 0, backlog=200) as server:
        port = server.sockets[0].getsockname()[1]
        answers = await asyncio.gather(*(ask(port) for _ in range(200)))
        print(answers.count(b"ping"))
asyncio.run(main())
"""
    assert python(session, script).stdout == "200\n"


def test_a_web_server_and_git(session: belljar.Session) -> None:
    """A repository is cloned from a server of the session."""
    ran = session.command(
        "set -e; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a"
        " GIT_COMMITTER_EMAIL=a@b; mkdir served; cd served; git init -q .; echo one > file;"
        " git add .; git commit -qm first; git update-server-info"
    )
    assert ran.ok, ran.stderr
    script = """
import http.server
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
    server = session.spawn([PYTHON, "-c", script])
    port = int(server.read().content)
    cloned = session.command(
        f"git clone -q http://127.0.0.1:{port}/served/.git copy && cat copy/file"
    )
    assert (cloned.stdout, cloned.ok) == ("one\n", True), cloned.stderr


PROGRAMS = {
    "node": """
const http = require("http"), dgram = require("dgram");
const server = http.createServer((_, answer) => answer.end("node")).listen(0, "localhost", () => {
  http.get({port: server.address().port, host: "localhost"}, (answer) => {
    answer.on("data", (text) => console.log(String(text)));
    answer.on("end", () => {
      const to = dgram.createSocket("udp4").bind(0, "127.0.0.1", () =>
        dgram.createSocket("udp4").send("datagram", to.address().port, "127.0.0.1"));
      to.on("message", (text) => { console.log(String(text)); process.exit(); });
    });
    server.close();
  });
});
""",
    "java": """
import java.net.*; import java.net.http.*; import java.util.*;
import com.sun.net.httpserver.*;
class A {
  public static void main(String[] given) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("localhost", 0), 0);
    server.createContext("/", (exchange) -> {
      exchange.sendResponseHeaders(200, 4);
      exchange.getResponseBody().write("java".getBytes());
      exchange.close();
    });
    server.start();
    URI to = URI.create("http://localhost:" + server.getAddress().getPort() + "/");
    System.out.println(HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(to).build(), HttpResponse.BodyHandlers.ofString()).body());
    DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
    byte[] bytes = "datagram".getBytes();
    socket.send(new DatagramPacket(bytes, bytes.length, socket.getLocalSocketAddress()));
    DatagramPacket got = new DatagramPacket(new byte[100], 100);
    socket.receive(got);
    System.out.println(new String(got.getData(), 0, got.getLength()));
    System.exit(0);
  }
}
""",
}
RUN = {
    "node": ("main.js", "node main.js"),
    "java": ("A.java", "java A.java"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_other_languages_serve_and_call(name: str, session: belljar.Session) -> None:
    if not session.command(["which", name]).ok:
        pytest.skip(f"there is no {name} here")
    file, line = RUN[name]
    session.files[file] = PROGRAMS[name]
    ran = session.command(line)
    assert (ran.stdout, ran.exit_code) == (f"{name}\ndatagram\n", 0), ran.stderr


# --- what does not --------------------------------------------------------------------------------


def test_there_is_no_way_out(session: belljar.Session) -> None:
    for address in ("192.0.2.1", "10.0.0.1", "1.1.1.1", "169.254.169.254"):
        assert connect(session, address, 80) == "ENETUNREACH"
    for address in ("2001:db8::1", "fe80::1", "ff02::1"):
        assert connect(session, address, 80) in {"ENETUNREACH", "EINVAL", "EADDRNOTAVAIL"}
    send = "attempt(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53)))"
    assert python(session, TRY + send).stdout == "ENETUNREACH\n"


def test_the_only_interface_is_the_loopback(session: belljar.Session) -> None:
    script = """
import pathlib
lines = pathlib.Path("/proc/self/net/dev").read_text().splitlines()[2:]
names = [line.split(":")[0].strip() for line in lines]
routes = pathlib.Path("/proc/self/net/route").read_text().splitlines()[1:]
print(names, routes)
"""
    ran = python(session, script)
    assert ran.stdout == "['lo'] []\n", ran


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_what_listens_on_this_machine_is_not_reached(
    family: socket.AddressFamily, session: belljar.Session
) -> None:
    if family == socket.AF_INET6 and not HAS_IPV6:
        pytest.skip("this machine has no IPv6")
    address = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        assert connect(session, address, port) == "ECONNREFUSED"
        with socket.create_connection((address, port), 10):  # the control
            pass


def test_what_listens_in_it_is_not_reached_from_outside(session: belljar.Session) -> None:
    _, port = serve(session)
    assert connect(session, "127.0.0.1", port) == "WON"  # the control
    with pytest.raises(OSError) as refused:
        socket.create_connection(("127.0.0.1", port), 10)
    assert refused.value.errno == errno.ECONNREFUSED


def test_sessions_have_ports_of_their_own(box: belljar.Sandbox) -> None:
    with box.session() as one, box.session() as other:
        _, port = serve(one)
        assert connect(one, "127.0.0.1", port) == "WON"
        assert connect(other, "127.0.0.1", port) == "ECONNREFUSED"
        _, same = serve(other, port)
        assert same == port and connect(other, "127.0.0.1", port) == "WON"


def test_a_port_goes_with_its_session(box: belljar.Sandbox) -> None:
    with box.session() as session:
        _, port = serve(session)
    with box.session() as next_one:
        assert connect(next_one, "127.0.0.1", port) == "ECONNREFUSED"
        assert serve(next_one, port)[1] == port


def test_the_egress_proxy_of_others_is_not_reached(session: belljar.Session) -> None:
    with belljar.Sandbox("network", allow_domains=["example.org"]) as network:
        connects = "import socket\nsocket.create_connection(('127.0.0.1', 1080)).close()"
        assert network.run(connects).ok  # the control
        with network.session() as other:
            assert other.run("1").ok
            assert connect(session, "127.0.0.1", 1080) == "ECONNREFUSED"


def test_with_the_network_of_a_profile_both_are_there() -> None:
    """A single program: sessions of commands do not have that."""
    source = f"{PYTHON} -c 'import socket; socket.create_server((\"\", 8080))' && echo served"
    with belljar.Sandbox("network", language="shell", allow_domains=["example.org"]) as box:
        ran = box.run(f"{source}; bash -c '< /dev/tcp/127.0.0.1/1080' && echo proxy")
        assert ran.stdout == "served\nproxy\n", ran
        (namespaces,) = (each for each in ran.isolation.layers if each.name == "namespaces")
        assert namespaces.detail.endswith("network: loopback only, with the egress proxy on it")


ABSTRACT = """
import ctypes, socket, sys
# Only a pair can be had of this family; one that takes datagrams may be bound and connected anew.
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
if sys.argv[1] == "serve":
    # Connected, it would take datagrams of its other end only.
    ctypes.CDLL(None).connect(one.fileno(), bytes(16), 16)  # AF_UNSPEC
    one.bind(sys.argv[2].replace("@", chr(0)))
    print("bound", flush=True)
    sys.stdin.read()
else:
    try:
        one.connect(sys.argv[2].replace("@", chr(0)))
        print("WON")
    except OSError as error:
        print(error.strerror)
"""


def test_abstract_sockets_of_others_are_not_reached(box: belljar.Sandbox) -> None:
    name = "@belljar-test-abstract"
    with box.session() as one, box.session() as other:
        server = one.spawn([PYTHON, "-c", ABSTRACT, "serve", name])
        assert server.read().content == b"bound\n"
        assert python(one, ABSTRACT, "reach", name).stdout == "WON\n"  # the control
        assert python(other, ABSTRACT, "reach", name).stdout == "Connection refused\n"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server, box.session() as session:
        server.bind(name.replace("@", "\0"))
        assert python(session, ABSTRACT, "reach", name).stdout == "Connection refused\n"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
            client.connect(name.replace("@", "\0"))  # the control


def test_a_socket_has_no_name_in_the_workspace(session: belljar.Session) -> None:
    assert (
        python(session, ABSTRACT, "serve", "/workspace/socket")
        .stderr.strip()
        .endswith("Permission denied")
    )


DENIED = {
    "a raw socket": "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)",
    "ping": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)",
    "packets": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "a named socket": "socket.socket(socket.AF_UNIX)",
    "vsock": "socket.socket(socket.AF_VSOCK)",
    "MPTCP": "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)",
    "SCTP": "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)",
    "UDP-Lite": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136)",
    "a filter": "tcp.setsockopt(socket.SOL_SOCKET, 26, bytes(16))",
    "TCP_ULP": "tcp.setsockopt(socket.IPPROTO_TCP, 31, b'tls')",
    "TCP_CONGESTION": "tcp.setsockopt(socket.IPPROTO_TCP, 13, b'reno')",
    "TCP_ZEROCOPY_RECEIVE": "tcp.getsockopt(socket.IPPROTO_TCP, 35, 64)",
    "IPV6_ADDRFORM": "tcp6.setsockopt(socket.IPPROTO_IPV6, 1, 2)",
    "a multicast group": "udp.setsockopt(0, 35, socket.inet_aton('224.0.0.1') + bytes(4))",
    "the interface": "fcntl.ioctl(udp, 0x8914, b'lo' + bytes(38))",
    "a route": "fcntl.ioctl(udp, 0x890B, bytes(120))",
    "a larger buffer than others": "udp.setsockopt(socket.SOL_SOCKET, 33, 1 << 30)",
}
MAKE = """
import fcntl
tcp, udp = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
try:
    tcp6 = socket.socket(socket.AF_INET6)
except OSError:
    tcp6 = tcp
"""


@pytest.mark.parametrize("name", DENIED)
def test_what_the_filter_refuses(name: str, session: belljar.Session) -> None:
    ran = python(session, TRY + MAKE + f"attempt(lambda: {DENIED[name]})")
    assert ran.stdout == "EPERM\n", ran


ALLOWED = {
    "reuse": "tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)",
    "keep-alive": "tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10)",
    "TCP_INFO": "tcp.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 100)",
    "a timeout": "tcp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, bytes(16))",
    "a buffer": "tcp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)",
    "broadcast": "udp.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)",
    "a lifetime": "udp.setsockopt(0, socket.IP_TTL, 3)",
}


@pytest.mark.parametrize("name", ALLOWED)
def test_the_controls_of_what_it_refuses(name: str, session: belljar.Session) -> None:
    ran = python(session, TRY + MAKE + f"attempt(lambda: {ALLOWED[name]})")
    assert ran.stdout == "WON\n", ran


def test_the_report_says_so(box: belljar.Sandbox) -> None:
    """A program of the shell is held as its commands are."""
    layers = {each.name: each.detail for each in box.run("true").isolation.layers}
    assert layers["namespaces"].endswith("network: loopback only")
    assert "TCP" not in layers["landlock"]
    with belljar.Sandbox(language="bash") as other:
        layers = {each.name: each.detail for each in other.run("true").isolation.layers}
        assert "loopback" not in layers["namespaces"] and "TCP" in layers["landlock"]


def test_other_languages_have_none() -> None:
    with belljar.Sandbox(language="bash") as box:
        ran = box.run(f"{PYTHON} -c 'import socket; socket.socket()'")
        assert "Operation not permitted" in ran.stderr
