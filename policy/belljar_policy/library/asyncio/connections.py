"""asyncio with connections, for profiles with a proxy: the library's selector event loop.

It adds the parts that open connections, including TLS and streams, to those of lean.py. The loop is
the library's, without wake-ups from outside, as there are no threads and signals. Names are not
resolved here: the sockets of library/network.py pass them on to the host.
"""

from __future__ import annotations

import importlib
import selectors
import socket
from collections.abc import Callable
from typing import Any

from .event_loop import STUCK, Policy
from .lean import package
from .log import write_error

_PARTS = (
    "constants", "log", "protocols", "transports", "sslproto", "staggered", "trsock", "base_events",
    "selector_events", "streams", "base_subprocess", "subprocess",
)  # fmt: skip
# Only the classes of subprocess are needed, because anyio derives from them.
_NOT_HERE = frozenset({
    "create_subprocess_exec", "create_subprocess_shell", "open_unix_connection", "start_server",
    "start_unix_server",
})  # fmt: skip


def _load() -> Any:
    for part in _PARTS:
        loaded = importlib.import_module(f"asyncio.{part}")
        for name in getattr(loaded, "__all__", ()):  # as the library's __init__ does
            if name not in _NOT_HERE:
                setattr(package, name, getattr(loaded, name))
    return importlib.import_module("asyncio.selector_events").BaseSelectorEventLoop


_Library = _load()


class ConnectionLoop(_Library):
    """The event loop of profiles with a network."""

    def __init__(self) -> None:
        super().__init__(selectors.EpollSelector())

    def _make_self_pipe(self) -> None:
        """Not needed: no thread or signal wakes the loop."""

    def _close_self_pipe(self) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def _run_once(self) -> None:
        if not (self._ready or self._scheduled or self._stopping or self._selector.get_map()):
            raise RuntimeError(STUCK)
        super()._run_once()

    async def getaddrinfo(self, host: Any, port: Any, **_: Any) -> list[Any]:
        """Returns the name unresolved: the host resolves it on connect()."""
        return socket.getaddrinfo(host, port)

    async def shutdown_default_executor(self, timeout: Any = None) -> None:
        """There is none."""

    def default_exception_handler(self, context: Any) -> None:
        """Like the loop without connections: the library's version reads source files."""
        message = context.get("message") or "Unhandled exception in event loop"
        write_error(message, context.get("exception"))


def enable(unavailable: Callable[[str, str], Callable]) -> None:
    """Makes asyncio.run() and similar functions use this loop. `unavailable` creates methods that
    raise with a reason."""
    loop: Any = ConnectionLoop
    loop.run_in_executor = unavailable("loop.run_in_executor", _THREADS)
    for name in ("create_server", "create_unix_server", "create_unix_connection"):
        setattr(loop, name, unavailable(f"loop.{name}", SERVERS))
    loop.create_datagram_endpoint = unavailable("loop.create_datagram_endpoint", _DATAGRAMS)
    Policy._loop_factory = loop


_THREADS = "needs threads, which are not available; call the function directly"
SERVERS = "starts a server; programs do not accept connections"
_DATAGRAMS = "sends datagrams; only TCP is available"
