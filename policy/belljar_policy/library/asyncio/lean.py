"""The library's asyncio without sockets and subprocesses.

`import asyncio` loads 30 modules and their dependencies: sockets, TLS, subprocesses, thread pools,
logging. Here only the 14 modules named below are loaded, under a package object whose `__init__` is
not run. Modules that are useless without sockets and threads are replaced during the import by
stand-ins with the few names that are used, which are removed from `sys.modules` afterwards.

Tasks and futures are the library's Python classes and not those of `_asyncio`: the C ones trust a
loop, an `__eq__` and a second `__init__` that a guest may have supplied, down to reading freed
memory (CPython gh-125966, gh-125969, gh-126080, gh-126138).
"""

from __future__ import annotations

# Imported first, so that shared modules are not loaded with a stand-in.
import contextlib
import contextvars  # noqa: F401
import importlib
import importlib.machinery
import inspect  # noqa: F401
import linecache  # noqa: F401
import os
import reprlib  # noqa: F401
import sys
import traceback  # noqa: F401
import types
import typing  # noqa: F401
from collections.abc import Iterator
from typing import Any

from .. import threading

PARTS = (
    "exceptions", "format_helpers", "coroutines", "base_futures", "base_tasks", "events", "futures",
    "tasks", "mixins", "locks", "queues", "timeouts", "taskgroups", "runners",
)  # fmt: skip


def _none(*_: Any, **__: Any) -> None:
    """For signal.getsignal, as there are no signal handlers, and for registering fork handlers, as
    the zygote that a worker is cloned from never ran a loop."""


# The names that are used of each; None: an ImportError, which the importers expect.
_STAND_INS: dict[str, dict[str, Any] | None] = {
    "_asyncio": None,
    "asyncio.constants": {"DEBUG_STACK_DEPTH": 0, "THREAD_JOIN_TIMEOUT": 0},
    "concurrent": {},
    "concurrent.futures": {
        "FIRST_COMPLETED": "FIRST_COMPLETED",
        "FIRST_EXCEPTION": "FIRST_EXCEPTION",
        "ALL_COMPLETED": "ALL_COMPLETED",
    },
    "logging": {"DEBUG": 10},
    "signal": {"SIGINT": 2, "default_int_handler": object(), "getsignal": _none},
    "socket": {"AF_UNSPEC": 0, "AI_PASSIVE": 1},
    "subprocess": {"PIPE": -1},
    "threading": {
        "Lock": contextlib.nullcontext,
        "current_thread": threading.current_thread,
        "local": threading.local,
        "main_thread": threading.main_thread,
    },
}


@contextlib.contextmanager
def _standing_in() -> Iterator[None]:
    saved = {name: sys.modules[name] for name in _STAND_INS if name in sys.modules}
    made: dict[str, Any] = {}
    for name, names in _STAND_INS.items():
        made[name] = None
        if names is not None:
            made[name] = types.ModuleType(name)
            vars(made[name]).update(names)
    made["concurrent"].futures = made["concurrent.futures"]
    sys.modules.update(made)
    register_at_fork = os.register_at_fork
    os.register_at_fork = _none  # type: ignore[assignment]
    try:
        yield
    finally:
        os.register_at_fork = register_at_fork
        for name in made:
            del sys.modules[name]
        sys.modules.update(saved)


def _load() -> Any:
    """A new package: an asyncio that is already imported is not the guest's."""
    for name in list(sys.modules):
        if name.partition(".")[0] == "asyncio":
            del sys.modules[name]
    spec = importlib.machinery.PathFinder.find_spec("asyncio")
    if spec is None:
        raise ImportError("this Python has no asyncio")
    made: Any = types.ModuleType("asyncio", "Asynchronous programs, without sockets.")
    made.__path__ = spec.submodule_search_locations  # its __init__ is not run
    sys.modules["asyncio"] = made
    with _standing_in():
        for part in PARTS:
            loaded = importlib.import_module(f"asyncio.{part}")
            for name in getattr(loaded, "__all__", ()):  # as the library's __init__ does
                setattr(made, name, getattr(loaded, name))
    return made


package = _load()
coroutines: Any = package.coroutines
events: Any = package.events
exceptions: Any = sys.modules["asyncio.exceptions"]
format_helpers: Any = package.format_helpers
futures: Any = package.futures
locks: Any = package.locks
queues: Any = package.queues
runners: Any = package.runners
taskgroups: Any = package.taskgroups
tasks: Any = package.tasks
timeouts: Any = package.timeouts
