"""concurrent.futures, for guests: the library's own, on the threads of threading.py.

ProcessPoolExecutor runs its calls in threads too: there are no other processes. So a function sees
and changes the program's own objects, and arguments are not pickled.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from . import queue, threading, traceback
from .alone import load, seal, stand_in
from .objects import is_a


class _Log:
    """What the library does with its logger: an error in a callback or an initializer."""

    def addHandler(self, _: Any) -> None:  # noqa: N802 (the library's name)
        pass

    def exception(self, text: str, *args: Any) -> None:
        error = sys.exc_info()[1]
        lines = [] if error is None else traceback.lines_of(error)
        if sys.stderr is not None:
            sys.stderr.write("".join((text % args, "\n", *lines)))

    critical = exception


def _load() -> tuple[Any, Any]:
    logging = stand_in("logging", getLogger=lambda _: _Log(), StreamHandler=object)
    stand_ins: dict[str, ModuleType | None] = {"logging": logging, "threading": threading}
    base = load("concurrent.futures._base", {**stand_ins, **_packages()})
    packages = _packages()
    packages["concurrent.futures"]._base = base
    packages["concurrent.futures._base"] = base
    thread = load("concurrent.futures.thread", {**stand_ins, **packages, "queue": queue.library})
    return base, thread


def _packages() -> dict[str, Any]:
    """The packages, without running their `__init__`."""
    made = {name: ModuleType(name) for name in ("concurrent", "concurrent.futures")}
    found = importlib.util.find_spec("concurrent")
    assert found is not None and found.submodule_search_locations is not None
    folder = list(found.submodule_search_locations)
    vars(made["concurrent"])["__path__"] = folder
    vars(made["concurrent.futures"])["__path__"] = [f"{each}/futures" for each in folder]
    return made


_base, _thread = _load()

FIRST_COMPLETED = _base.FIRST_COMPLETED
FIRST_EXCEPTION = _base.FIRST_EXCEPTION
ALL_COMPLETED = _base.ALL_COMPLETED
CancelledError = _base.CancelledError
TimeoutError = _base.TimeoutError  # noqa: A001 (the library's name)
InvalidStateError = _base.InvalidStateError
BrokenExecutor = _base.BrokenExecutor
Future = _base.Future
Executor = _base.Executor
ThreadPoolExecutor = _thread.ThreadPoolExecutor


class ProcessPoolExecutor(ThreadPoolExecutor):  # type: ignore[misc,valid-type]
    """Runs its calls in threads: there are no other processes."""

    def __init__(
        self,
        max_workers: Any = None,
        mp_context: Any = None,
        initializer: Any = None,
        initargs: Any = (),
        *,
        max_tasks_per_child: Any = None,
    ) -> None:
        super().__init__(max_workers, "ProcessPoolExecutor", initializer, initargs)


for _class in (Future, Executor, ThreadPoolExecutor, ProcessPoolExecutor):
    seal(_class)


def _futures(fs: Iterable[Any]) -> list[Any]:
    """Only futures: the library would pass its own objects to what claims to be one."""
    found = list(fs)
    for each in found:
        if not is_a(each, Future):
            raise TypeError(f"a Future was expected, not {type(each).__name__!r}")
    return found


def wait(fs: Any, timeout: Any = None, return_when: Any = ALL_COMPLETED) -> Any:
    """Waits for the futures; returns (done, not_done)."""
    return _base.wait(_futures(fs), timeout, return_when)


def as_completed(fs: Any, timeout: Any = None) -> Iterator[Any]:
    """The futures, each as soon as it is done."""
    yield from _base.as_completed(_futures(fs), timeout)
