"""Network access for guests: all connections go through the host's egress proxy.

A worker's network namespace has a loopback interface with one listener, the proxy (engine/egress),
which speaks HTTP and SOCKS5. Libraries find it through the proxy variables of the environment.
Code that opens sockets itself (ftplib, smtplib, a program) reaches it through a replaced
`socket.socket.connect`, which passes on the host name, because only the host resolves names. The
proxy is the only way out, with or without the language policy.
"""

from __future__ import annotations

import email.headerregistry
import errno
import ftplib
import importlib
import os
import socket
import ssl
import urllib.error
import urllib.request
from typing import Any

from . import program, proxy_status
from .objects import is_a, refuses

_HOST = "127.0.0.1"
_MAX_NAME = 255
_SYSTEM_ROOTS = "/etc/ssl/certs/ca-certificates.crt"

# Reply codes of RFC 1928, section 6, as the errors that connect() would raise.
_REFUSALS = {
    2: (errno.EACCES, "the operator of this sandbox does not allow it"),
    3: (errno.ENETUNREACH, os.strerror(errno.ENETUNREACH)),
    4: (errno.EHOSTUNREACH, os.strerror(errno.EHOSTUNREACH)),
    5: (errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED)),
    6: (errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT)),
}
_FAILED = (errno.ECONNABORTED, "the host could not open the connection")


def environment(port: int) -> dict[str, str]:
    """The environment variables for the egress proxy and the available certificates."""
    proxy = f"http://{_HOST}:{port}"
    found = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "ALL_PROXY": f"socks5h://{_HOST}:{port}"}
    found |= {name.lower(): value for name, value in found.items()}
    if os.path.exists(_SYSTEM_ROOTS):
        found |= {"SSL_CERT_FILE": _SYSTEM_ROOTS, "REQUESTS_CA_BUNDLE": _SYSTEM_ROOTS}
    return found


def reduce(port: int) -> None:
    """Zygote, before any module that may open a connection is imported. `port`: the proxy's."""
    program.running.has_network = True
    os.environ.update(environment(port))
    _lead_sockets_to((_HOST, port))
    _keep_ftp_to_its_host()
    _verify_servers_of_mail_and_ftp()
    _leave_files_out_of_urllib()
    _raise_refusals_of_http()
    _make_header_classes_ahead()
    # Before a package imports asyncio: it must find this version, which has connections.
    importlib.import_module(".asyncio", __package__)


# --- sockets ----------------------------------------------------------------------------------


def _receive(sock: Any, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise ConnectionResetError(errno.ECONNRESET, "the egress proxy closed the connection")
        data += more
    return data


def _ask_for(sock: Any, host: str, port: int) -> None:
    """SOCKS5 over a socket that is connected to the egress proxy."""
    name = host.encode("idna")
    if not 0 < len(name) <= _MAX_NAME or not 0 < port <= 0xFFFF:
        raise socket.gaierror(socket.EAI_NONAME, "no host and port")
    sock.sendall(b"\5\1\0")
    _receive(sock, 2)
    sock.sendall(b"\5\1\0\3" + bytes((len(name),)) + name + port.to_bytes(2, "big"))
    code = _receive(sock, 10)[1]
    if code:
        number, why = _REFUSALS.get(code, _FAILED)
        raise OSError(number, f"{why}: {host}:{port}")


def _lead_sockets_to(proxy: tuple[str, int]) -> None:
    cls: Any = socket.socket
    plain_connect = cls.connect

    def connect(self: Any, address: Any) -> None:
        """Connect to a host by name or address, through the host's proxy."""
        if not is_a(self, cls):
            raise TypeError(f"connect() takes a socket, not {type(self).__name__!r}")
        if type(address) is not tuple or address == proxy or self.family != socket.AF_INET:
            return plain_connect(self, address)
        host, port = address[:2]
        if type(host) is not str or type(port) is not int:
            raise TypeError("an address is a tuple of a str and an int")
        timeout = self.gettimeout()
        # The proxy connects to the target, so a non-blocking socket has to wait for it here.
        self.settimeout(timeout or None)
        plain_connect(self, proxy)
        _ask_for(self, host, port)
        self.settimeout(timeout)
        return None

    def connect_ex(self: Any, address: Any) -> int:
        """Like connect(), but returns the error number."""
        try:
            connect(self, address)
        except OSError as error:
            if error.errno is None:
                raise
            return error.errno
        return 0

    def getaddrinfo(host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0,  # noqa: A002
                    flags: int = 0) -> list[Any]:  # fmt: skip
        """Returns the name unresolved: the host resolves it on connect()."""
        if host is None or family not in (0, socket.AF_INET):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if isinstance(port, str):
            port = _SERVICES.get(port) or int(port)
        host = host.decode("idna") if isinstance(host, bytes) else str(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port or 0))]

    def getfqdn(name: str = "") -> str:
        """Asks no name server; a worker has no host name."""
        return name or "localhost.localdomain"

    cls.connect, cls.connect_ex = connect, connect_ex
    module: Any = socket
    module.getaddrinfo, module.getfqdn = getaddrinfo, getfqdn


_SERVICES = {"http": 80, "https": 443, "ftp": 21, "smtp": 25, "submission": 587, "smtps": 465}


def _keep_ftp_to_its_host() -> None:
    """Data connections use the host's name: the peer of the control connection is the proxy."""
    cls: Any = ftplib.FTP
    original = cls.makepasv

    def makepasv(self: Any) -> tuple[str, int]:
        host, port = original(self)
        return (host if self.trust_server_pasv_ipv4_address else self.host), port

    cls.makepasv = makepasv


def _verify_servers_of_mail_and_ftp() -> None:
    """Without a context, smtplib and ftplib verify no certificates. Here they verify them like
    HTTPS, against the system's roots; a program can still pass its own context."""
    module: Any = ssl
    unverified = module._create_stdlib_context

    def context(*arguments: Any, certfile: Any = None, keyfile: Any = None, **more: Any) -> Any:
        if more:  # get_server_certificate(), which must accept any certificate
            return unverified(*arguments, certfile=certfile, keyfile=keyfile, **more)
        verifying = ssl.create_default_context()
        if certfile is not None:
            verifying.load_cert_chain(certfile, keyfile)
        return verifying

    module._create_stdlib_context = context


def _leave_files_out_of_urllib() -> None:
    """Removes file: URLs, so that a URL from outside cannot read local files."""
    module: Any = urllib.request
    what = "use a URL that begins with http:// or https://"
    for method in ("file_open", "open_local_file"):
        setattr(module.FileHandler, method, refuses(f"FileHandler.{method}", what))
    module.FTPHandler.ftp_open = refuses("FTPHandler.ftp_open", "use ftplib")
    if not hasattr(module, "URLopener"):  # until 3.13
        return
    for method in ("open_file", "open_local_file", "retrieve", "open_ftp"):
        setattr(module.URLopener, method, refuses(f"URLopener.{method}", "use urlopen()"))


def _raise_refusals_of_http() -> None:
    """urllib.request: as for https://. http.client itself connects by SOCKS."""
    cls: Any = urllib.request.HTTPHandler
    original = cls.http_open

    def http_open(self: Any, req: Any) -> Any:
        response = original(self, req)
        said = proxy_status.refusal(
            response.status, response.reason, response.headers.get(proxy_status.HEADER)
        )
        if said is None:
            return response
        response.close()
        raise urllib.error.URLError(OSError(said))

    cls.http_open = http_open


def _make_header_classes_ahead() -> None:
    """A policy of email creates a class for each kind of header on first use. Classes created
    while a program runs would be treated as the program's."""
    registry: Any = email.headerregistry.HeaderRegistry
    base = email.headerregistry.BaseHeader
    original = registry.__getitem__
    example = registry()
    kinds = [*example.registry.values(), example.default_class]
    # By identity: the program can register its own class, whose metaclass may define __hash__.
    made = {id(kind): type(f"_{kind.__name__}", (kind, base), {}) for kind in kinds}

    def __getitem__(self: Any, name: Any) -> Any:  # noqa: N807
        kind = self.registry.get(name.lower(), self.default_class)
        found = made.get(id(kind)) if self.base_class is base else None
        return found or original(self, name)

    registry.__getitem__ = __getitem__
