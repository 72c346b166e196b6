"""asyncio, for guests: tasks, locks, queues and timeouts on a loop that only knows the clock.

lean.py loads the parts of the library's package, event_loop.py is our loop, sealing.py makes the
library's classes insist on their own kind, log.py writes what nobody caught to stderr.
"""

from __future__ import annotations

from typing import Any

from ..program import running
from .lean import package
from .sealing import seal, unavailable

_THREADS = "needs threads, and there are none; call the function directly"
_SOCKETS = "needs sockets, and there is no network"
_PROCESSES = "starts a program, and no other program is here"
_POLICY = "changes what makes event loops, and there is one kind; asyncio.run() needs no policy"

# Named by so many programs that an AttributeError would be a poor answer.
_UNAVAILABLE = {
    "to_thread": _THREADS,
    "run_coroutine_threadsafe": _THREADS,
    "open_connection": _SOCKETS,
    "start_server": _SOCKETS,
    "create_subprocess_exec": _PROCESSES,
    "create_subprocess_shell": _PROCESSES,
    "set_event_loop_policy": _POLICY,
}


def __getattr__(name: str) -> Any:
    """What the profile names is what the package has."""
    return getattr(package, name)


seal()
# In the package itself: with the policy off, `import asyncio` finds it, since the real one's event
# loop needs sockets, which a worker is refused.
for _name, _why in _UNAVAILABLE.items():
    setattr(package, _name, unavailable(_name, _why))
if running.has_network:
    from . import connections  # which is a part of the package too: open_connection()

    connections.enable(unavailable)
    package.start_server = unavailable("start_server", connections.SERVERS)
