"""asyncio, for guests: tasks, locks, queues and timeouts on an event loop without I/O.

lean.py loads parts of the library's package, event_loop.py is our loop, executors.py runs functions
in threads, sealing.py makes methods of the library's classes check the type of `self`, log.py
writes unhandled errors to stderr.
"""

from __future__ import annotations

from typing import Any

from ..program import running
from . import executors
from .lean import package
from .sealing import seal, seal_loop, unavailable

_SOCKETS = "needs sockets; the network is not available"
_PROCESSES = "starts a program; other programs are not available"
_POLICY = "changes the event loop policy, which is fixed; asyncio.run() does not need it"

# Used by so many programs that they deserve a better message than an AttributeError.
_UNAVAILABLE = {
    "open_connection": _SOCKETS,
    "start_server": _SOCKETS,
    "create_subprocess_exec": _PROCESSES,
    "create_subprocess_shell": _PROCESSES,
    "set_event_loop_policy": _POLICY,
}


def __getattr__(name: str) -> Any:
    """Provides the package's names, which the profile exports."""
    return getattr(package, name)


seal()
# In the package itself: with the policy off, `import asyncio` finds it, since the real one's event
# loop needs sockets, which a worker is refused.
for _name, _why in _UNAVAILABLE.items():
    setattr(package, _name, unavailable(_name, _why))
for _name in ("run_coroutine_threadsafe", "to_thread", "wrap_future"):
    setattr(package, _name, getattr(executors, _name))
if running.has_network:
    from . import connections  # which is a part of the package too: open_connection()

    connections.enable(unavailable)
    seal_loop(connections.ConnectionLoop)
    package.start_server = unavailable("start_server", connections.SERVERS)
