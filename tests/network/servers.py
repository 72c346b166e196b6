"""Real servers on loopback: HTTP, HTTPS with an authority of its own, and plain TCP."""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import socketserver
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Authority:
    """A certificate authority for the names under allowed.test."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Authority:
        names = "subjectAltName=DNS:allowed.test,DNS:*.allowed.test"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=allowed.test", "-addext", names,
             "-keyout", folder / "key.pem", "-out", folder / "certificate.pem"],
            check=True, capture_output=True,
        )  # fmt: skip
        return cls(folder)

    @property
    def certificate(self) -> str:
        return (self.folder / "certificate.pem").read_text()

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "certificate.pem", self.folder / "key.pem")
        return context


class _Handler(http.server.BaseHTTPRequestHandler):
    """Says what it was asked; /to?URL redirects there, /bytes?N sends so many, /status?N so
    answers.
    """

    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path == "/to":
            self.send_response(302)
            self.send_header("Location", query)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        said = {
            "method": self.command,
            "path": self.path,
            "host": self.headers["Host"],
            "headers": dict(self.headers.items()),
            "body": body.decode("latin-1"),
        }
        content = b"x" * int(query) if path == "/bytes" else json.dumps(said).encode()
        self.send_response(int(query) if path == "/status" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            with contextlib.suppress(OSError):
                self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_HEAD = _answer

    def log_message(self, *_: Any) -> None:
        pass


Address = tuple[str, int]
ANYWHERE: Address = ("127.0.0.1", 0)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Without a look-up of the address's name."""
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, *_: Any) -> None:
        """Clients that go away are part of the tests."""


@contextlib.contextmanager
def http_server(
    context: ssl.SSLContext | None = None, address: Address = ANYWHERE
) -> Iterator[int]:
    class Server(_Server):
        address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET

    with Server(address, _Handler) as server:
        if context is not None:
            # The handshake is the connection's thread's: one that never ends holds up nobody.
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()


@contextlib.contextmanager
def tcp_server(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Each connection is given to `serve`, on a thread of its own."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                serve(self.request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


class _Ftp(socketserver.StreamRequestHandler):
    """As much of RFC 959 as a client needs to list, fetch and store; passive connections only."""

    def handle(self) -> None:
        self.data: socket.socket | None = None
        self._say("220 ready")
        with contextlib.suppress(OSError):
            while line := self.rfile.readline().decode().strip():
                word, _, argument = line.partition(" ")
                command = getattr(self, f"do_{word.upper()}", None)
                if command is None:
                    self._say("502 not here")
                else:
                    command(argument)

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())

    def do_USER(self, _: str) -> None:
        self._say("331 and the password")

    def do_PASS(self, argument: str) -> None:
        self._say("230 in" if argument == "secret" else "530 no")

    def do_TYPE(self, _: str) -> None:
        self._say("200 fine")

    def do_QUIT(self, _: str) -> None:
        self._say("221 bye")

    def do_AUTH(self, _: str) -> None:
        """The rest of the control connection is TLS."""
        self._say("234 go on")
        self.request = self.server.context.wrap_socket(self.request, server_side=True)
        self.setup()

    def do_PASV(self, _: str) -> None:
        self.data = socket.create_server((self.request.getsockname()[0], 0))
        high, low = divmod(self.data.getsockname()[1], 256)
        self._say(f"227 here (127,0,0,1,{high},{low})")

    @contextlib.contextmanager
    def _connection(self) -> Iterator[socket.socket]:
        assert self.data is not None
        self._say("150 now")
        connection, _ = self.data.accept()
        with self.data, connection:
            yield connection
        self._say("226 done")

    def do_NLST(self, _: str) -> None:
        with self._connection() as connection:
            for path in sorted(self.server.folder.iterdir()):
                connection.sendall(f"{path.name}\r\n".encode())

    def do_RETR(self, name: str) -> None:
        with self._connection() as connection:
            connection.sendall((self.server.folder / name).read_bytes())

    def do_STOR(self, name: str) -> None:
        with self._connection() as connection, (self.server.folder / name).open("wb") as file:
            while data := connection.recv(1 << 16):
                file.write(data)


@contextlib.contextmanager
def ftp_server(
    folder: Path, address: Address = ANYWHERE, context: ssl.SSLContext | None = None
) -> Iterator[int]:
    """FTP for anybody whose password is "secret"."""

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(address, _Ftp) as server:
        server.folder, server.context = folder, context  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()
