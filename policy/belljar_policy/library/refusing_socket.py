"""socket, for tests that patch it: constants, errors, and calls that refuse (refusing.py)."""

from __future__ import annotations

from enum import IntEnum

from . import refusing


class AddressFamily(IntEnum):
    """Kinds of addresses, with Linux's numbers."""

    AF_UNSPEC = 0
    AF_UNIX = 1
    AF_INET = 2
    AF_INET6 = 10


class SocketKind(IntEnum):
    """Kinds of sockets, likewise."""

    SOCK_STREAM = 1
    SOCK_DGRAM = 2


AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6 = AddressFamily
SOCK_STREAM, SOCK_DGRAM = SocketKind
SHUT_RD, SHUT_WR, SHUT_RDWR = 0, 1, 2
SOL_SOCKET, SO_REUSEADDR, SO_ERROR, SO_BROADCAST, SO_KEEPALIVE = 1, 2, 4, 6, 9
IPPROTO_TCP, IPPROTO_UDP, TCP_NODELAY = 6, 17, 1

error = OSError
timeout = TimeoutError


class gaierror(OSError):  # noqa: N801
    """A name has no address."""


class herror(OSError):  # noqa: N801
    """The same, of older functions."""


socket = refusing.kind(
    "socket.socket",
    "accept bind close connect connect_ex fileno getpeername getsockname getsockopt gettimeout "
    "listen makefile recv recv_into recvfrom send sendall sendto setblocking setsockopt settimeout "
    f"shutdown {refusing.CONTEXT}",
)
create_connection = refusing.function("socket.create_connection")
getaddrinfo = refusing.function("socket.getaddrinfo")
getdefaulttimeout = refusing.function("socket.getdefaulttimeout")
getfqdn = refusing.function("socket.getfqdn")
gethostbyaddr = refusing.function("socket.gethostbyaddr")
gethostbyname = refusing.function("socket.gethostbyname")
gethostname = refusing.function("socket.gethostname")
setdefaulttimeout = refusing.function("socket.setdefaulttimeout")
