"""asyncio with connections, for profiles with a proxy: the library's own loop on a selector.

To the parts of lean.py come those that open connections, TLS and streams among them. The loop is
the library's, less what wakes it from outside: there are no threads and no signals. Names are not
looked up here but passed on to the host, by the sockets of library/network.py.
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
# Of subprocess only classes are wanted, which anyio derives from.
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
    """What asyncio.new_event_loop() gives where there is a network."""

    def __init__(self) -> None:
        super().__init__(selectors.EpollSelector())

    def _make_self_pipe(self) -> None:
        """No thread and no signal is there to wake it."""

    def _close_self_pipe(self) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def _run_once(self) -> None:
        if not (self._ready or self._scheduled or self._stopping or self._selector.get_map()):
            raise RuntimeError(STUCK)
        super()._run_once()

    async def getaddrinfo(self, host: Any, port: Any, **_: Any) -> list[Any]:
        """The name itself: whoever connects to it has the host look it up."""
        return socket.getaddrinfo(host, port)

    async def shutdown_default_executor(self, timeout: Any = None) -> None:
        """There is none."""

    def default_exception_handler(self, context: Any) -> None:
        """As that of the loop without connections: the library's reads source lines of files."""
        message = context.get("message") or "Unhandled exception in event loop"
        write_error(message, context.get("exception"))


def enable(unavailable: Callable[[str, str], Callable]) -> None:
    """asyncio.run() and its kin use this loop. `unavailable` makes what says why it is not here."""
    loop: Any = ConnectionLoop
    loop.run_in_executor = unavailable("loop.run_in_executor", _THREADS)
    for name in ("create_server", "create_unix_server", "create_unix_connection"):
        setattr(loop, name, unavailable(f"loop.{name}", SERVERS))
    loop.create_datagram_endpoint = unavailable("loop.create_datagram_endpoint", _DATAGRAMS)
    Policy._loop_factory = loop


_THREADS = "needs threads, and there are none; call the function directly"
SERVERS = "serves others, and nobody can reach a program here"
_DATAGRAMS = "sends datagrams, and there is TCP only"
