"""asyncio with connections, for profiles with a proxy: the library's selector event loop.

It adds the parts that open connections, including TLS and streams, to those of lean.py. The loop is
the library's, without wake-ups from outside: threads take turns with it (scheduler.py), and there
are no signals. Names are not resolved here: the sockets of library/network.py pass them on to the
host.
"""

from __future__ import annotations

import _thread
import importlib
import selectors
import socket
from collections.abc import Callable
from typing import Any

from .. import scheduler
from . import host_calls
from .event_loop import STUCK, Policy
from .executors import RunsInThreads, uses_kernel_threads
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

# The shortest and the longest time for which connections are waited for while the kernel's threads
# run, of which one may wake the loop: there is no pipe to do it with.
_PAUSES = 0.0005, 0.01


def _is_alone() -> bool:
    """Whether nothing but connections and timers can wake the loop."""
    return _thread._count() == 0 if uses_kernel_threads() else scheduler.is_alone()


class _Selector(selectors.EpollSelector):
    """Waits for connections and lets other threads run."""

    is_woken = False

    def select(self, timeout: Any = None) -> list[Any]:
        """The connections that are ready."""
        if timeout == 0:
            host_calls.glance()
        elif host_calls.are_pending():
            return self._select_beside_host(timeout)
        if uses_kernel_threads():
            return self._select_beside_threads(timeout)
        end = None if timeout is None else scheduler.clock() + timeout
        pause = timeout
        while not scheduler.is_alone():
            scheduler.pass_turn()
            found = super().select(0)
            left = None if end is None else end - scheduler.clock()
            if found or self.is_woken or left is not None and left <= 0:
                self.is_woken = False
                return found
            pauses = [each for each in (left, scheduler.seconds_to_next()) if each is not None]
            pause = min(pauses, default=None)
            if pause is None and not self.get_map():
                raise RuntimeError(STUCK)
            found = super().select(pause)
            if found:
                return found
        return super().select(pause)

    def _select_beside_host(self, timeout: float | None) -> list[Any]:
        """Once: the loop comes again."""
        has_connections = bool(self.get_map())
        if has_connections and (found := super().select(0)):
            return found
        pause = host_calls.wait(timeout, has_others=has_connections)
        is_woken, self.is_woken = self.is_woken, False
        return super().select(0 if is_woken else pause)

    def _select_beside_threads(self, timeout: float | None) -> list[Any]:
        end = None if timeout is None else scheduler.clock() + timeout
        pause, longest = _PAUSES
        while True:
            alone = _is_alone()  # first: a thread wakes the loop before it ends
            left = None if end is None else max(end - scheduler.clock(), 0)
            if self.is_woken:
                self.is_woken = False
                return super().select(0)
            if alone:
                return super().select(left)
            found = super().select(pause if left is None else min(pause, left))
            if found or left == 0:
                return found
            pause = min(pause * 2, longest)


class ConnectionLoop(RunsInThreads, _Library):
    """The event loop of profiles with a network."""

    def __init__(self) -> None:
        super().__init__(_Selector())

    def _make_self_pipe(self) -> None:
        """Not needed: the selector asks."""

    def _close_self_pipe(self) -> None:
        pass

    def _write_to_self(self) -> None:
        self._selector.is_woken = True

    def _run_once(self) -> None:
        has_work = self._ready or self._scheduled or self._stopping or self._selector.get_map()
        if not has_work and not host_calls.are_pending() and _is_alone():
            raise RuntimeError(STUCK)
        super()._run_once()

    async def getaddrinfo(self, host: Any, port: Any, **_: Any) -> list[Any]:
        """Returns the name unresolved: the host resolves it on connect()."""
        return socket.getaddrinfo(host, port)

    def default_exception_handler(self, context: Any) -> None:
        """Like the loop without connections: the library's version reads source files."""
        message = context.get("message") or "Unhandled exception in event loop"
        write_error(message, context.get("exception"))


def enable(unavailable: Callable[[str, str], Callable]) -> None:
    """Makes asyncio.run() and similar functions use this loop. `unavailable` creates methods that
    raise with a reason."""
    loop: Any = ConnectionLoop
    for name in ("create_server", "create_unix_server", "create_unix_connection"):
        setattr(loop, name, unavailable(f"loop.{name}", SERVERS))
    loop.create_datagram_endpoint = unavailable("loop.create_datagram_endpoint", _DATAGRAMS)
    Policy._loop_factory = loop


SERVERS = "starts a server; programs do not accept connections"
_DATAGRAMS = "sends datagrams; only TCP is available"
