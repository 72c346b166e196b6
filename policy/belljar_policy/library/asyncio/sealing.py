"""Restricts the library's classes, before the freeze.

A method written in Python accepts any `self` and writes to it. The methods of every class that a
guest can reach therefore check the type of `self`. What leads to frames, files or out of the
process raises with an explanation.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

from ..objects import only_for_its_own
from .event_loop import EventLoop, Policy
from .executors import RunsInThreads
from .lean import (
    coroutines,
    events,
    format_helpers,
    futures,
    locks,
    queues,
    runners,
    taskgroups,
    tasks,
    timeouts,
)

_CLASSES = (
    futures.Future, tasks.Task, tasks._GatheringFuture, events.Handle, events.TimerHandle,
    locks.Lock, locks.Event, locks.Condition, locks.Semaphore, locks.BoundedSemaphore,
    locks.Barrier, queues.Queue, queues.PriorityQueue, queues.LifoQueue, taskgroups.TaskGroup,
    timeouts.Timeout, runners.Runner, EventLoop, RunsInThreads,
    # The result of as_completed() since Python 3.13; before, it was a generator.
    *(kind for kind in [getattr(tasks, "_AsCompletedIterator", None)] if kind is not None),
)  # fmt: skip

# Called implicitly by statements, but programs can also call them by name.
_SPECIAL = frozenset({
    "__init__", "__await__", "__iter__", "__next__", "__aiter__", "__anext__", "__enter__",
    "__exit__", "__aenter__", "__aexit__",
})  # fmt: skip


def unavailable(name: str, why: str) -> Callable:
    """A callable that raises an error with the reason why it is not available."""

    def missing(*_: Any, **__: Any) -> Any:
        raise PermissionError(f"[BJ502] asyncio: {name}() {why}")

    missing.__name__ = missing.__qualname__ = name.rpartition(".")[2]
    return missing


_FRAMES = "returns frames, which are not available; print the task itself"


def _why(method: str) -> str:
    """Why the event loop's `method` is not available."""
    if "subprocess" in method:
        return "starts a program; other programs are not available"
    if "signal" in method:
        return "needs signals, which are not available"
    return "needs descriptors; sockets, pipes and files are not available"


def _seal(cls: Any) -> None:
    for name, value in list(vars(cls).items()):
        if type(value) is types.FunctionType and (name in _SPECIAL or not name.startswith("_")):
            only_for_its_own(cls, name)
            if inspect.iscoroutinefunction(value):  # for asyncio.iscoroutinefunction()
                vars(cls)[name]._is_coroutine = coroutines._is_coroutine


def seal_loop(loop: type) -> None:
    """Make methods of `loop` and of what it inherits check `self`; for profiles with a network."""
    for cls in loop.__mro__:
        if cls not in (*_CLASSES, events.AbstractEventLoop, object):
            _seal(cls)


def _no_stack(*_: Any, **__: Any) -> list[Any]:
    """Replaces format_helpers.extract_stack, whose entries can read any file through linecache."""
    return []


def seal() -> None:
    """Called once, after the modules are loaded."""
    loop: Any = EventLoop
    for name, value in vars(events.AbstractEventLoop).items():
        if not name.startswith("_") and getattr(loop, name) is value and callable(value):
            setattr(loop, name, unavailable(f"loop.{name}", _why(name)))
    for name in ("get_stack", "print_stack"):
        setattr(tasks.Task, name, unavailable(f"Task.{name}", _FRAMES))
    format_helpers.extract_stack = _no_stack
    for cls in _CLASSES:
        _seal(cls)
    # The public one warns, since Python 3.14.
    set_policy = getattr(events, "_set_event_loop_policy", None) or events.set_event_loop_policy
    set_policy(Policy())
