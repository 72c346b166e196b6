"""multiprocessing, for guests: processes and pools whose functions run in threads of the program.

There are no other processes. So functions see and change the program's own objects, arguments and
results are not pickled, and calls take turns on one processor.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import queue, threading
from .multiprocessing_parts import (  # noqa: F401 (exports)
    Array,
    Manager,
    Pipe,
    Process,
    Queue,
    RawArray,
    RawValue,
    SimpleQueue,
    Value,
)
from .objects import is_a, its_own_only

JoinableQueue = Queue
Barrier = threading.Barrier
BoundedSemaphore = threading.BoundedSemaphore
Condition = threading.Condition
Event = threading.Event
Lock = threading.Lock
RLock = threading.RLock
Semaphore = threading.Semaphore


class TimeoutError(Exception):  # noqa: A001 (the library's name)
    """A result was not there in time."""


def cpu_count() -> int:
    """How many processors the program can use: its threads take turns on one."""
    return 1


def freeze_support() -> None:
    """Nothing: no process is started."""


class _MainProcess:
    """What current_process() returns outside processes."""

    __slots__ = ()
    name = "MainProcess"
    daemon = False
    exitcode = None
    pid = ident = 1

    def is_alive(self) -> bool:
        """It runs."""
        return True

    def __repr__(self) -> str:
        return "<_MainProcess name='MainProcess' parent=None started>"


_PROCESS = _MainProcess()


def current_process() -> Any:
    """The process that runs: a thread, or the program's."""
    thread = threading.current_thread()
    return thread if is_a(thread, Process) else _PROCESS


def active_children() -> list[Any]:
    """The processes that run."""
    return [each for each in threading.enumerate() if is_a(each, Process)]


def get_start_method(allow_none: Any = False) -> str:
    """How processes would be started."""
    return "fork"


def set_start_method(method: Any, force: Any = False) -> None:
    """Nothing: no process is started."""


def get_all_start_methods() -> list[str]:
    """The ways to start a process, of which none is needed."""
    return ["fork", "spawn", "forkserver"]


class _Call:
    """The state behind a result, which only the pool changes."""

    __slots__ = ("callback", "error_callback", "is_done", "is_fine", "tell", "value")

    def __init__(self, callback: Any, error_callback: Any) -> None:
        self.callback, self.error_callback = callback, error_callback
        self.tell: Callable[[], None] | None = None  # our own, after the program's
        self.is_done = threading.Event()
        self.is_fine = False
        self.value: Any = None

    def end(self, is_fine: bool, value: Any) -> None:
        self.is_fine, self.value = is_fine, value
        callback = self.callback if is_fine else self.error_callback
        try:
            if callback is not None:
                callback(value)
        finally:
            self.is_done.set()
            if self.tell is not None:
                self.tell()


@its_own_only
class AsyncResult:
    """multiprocessing.pool.AsyncResult."""

    __slots__ = ("__weakref__", "_call")

    def __init__(self, callback: Any = None, error_callback: Any = None) -> None:
        self._call = _Call(callback, error_callback)

    def ready(self) -> bool:
        """Whether the call has ended."""
        return self._call.is_done.is_set()

    def successful(self) -> bool:
        """Whether it raised nothing."""
        if not self.ready():
            raise ValueError(f"{self!r} not ready")
        return self._call.is_fine

    def wait(self, timeout: Any = None) -> None:
        """Waits for the end of the call."""
        self._call.is_done.wait(timeout)

    def get(self, timeout: Any = None) -> Any:
        """What the call returned; raises what it raised."""
        if not self._call.is_done.wait(timeout):
            raise TimeoutError
        if not self._call.is_fine:
            raise self._call.value
        return self._call.value


_RUN, _CLOSED, _TERMINATED = "RUN", "CLOSE", "TERMINATE"


@its_own_only
class Pool:
    """multiprocessing.Pool."""

    __slots__ = ("__weakref__", "_calls", "_state", "_threads")

    def __init__(
        self,
        processes: Any = None,
        initializer: Any = None,
        initargs: Any = (),
        maxtasksperchild: Any = None,
        context: Any = None,
    ) -> None:
        number = _DEFAULT_THREADS if processes is None else processes
        if number < 1:
            raise ValueError("Number of processes must be at least 1")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        self._calls: Any = queue.SimpleQueue()
        self._state = _RUN
        self._threads: list[Any] = []
        work = self._work
        for _ in range(number):
            thread = threading.Thread(
                target=work,
                args=(self._calls, initializer, initargs),
                name=f"PoolWorker-{next(_numbers)}",
                daemon=True,
            )
            self._threads.append(thread)
            thread.start()

    @staticmethod
    def _work(calls: Any, initializer: Any, initargs: Any) -> None:
        if initializer is not None:
            initializer(*initargs)
        while True:
            call = calls.get()
            if call is None:
                return
            call()

    def _submit(self, function: Callable[[], Any], call: _Call) -> None:
        if self._state is not _RUN:
            raise ValueError("Pool not running")

        def run() -> None:
            try:
                value = function()
            except Exception as error:
                call.end(False, error)
            else:
                call.end(True, value)

        self._calls.put(run)

    def _start(
        self, function: Callable[[], Any], callback: Any = None, error_callback: Any = None
    ) -> AsyncResult:
        result = AsyncResult(callback, error_callback)
        self._submit(function, result._call)
        return result

    def apply(self, func: Any, args: Any = (), kwds: Any = None) -> Any:
        """`func(*args, **kwds)`."""
        return self.apply_async(func, args, kwds).get()

    def apply_async(
        self,
        func: Any,
        args: Any = (),
        kwds: Any = None,
        callback: Any = None,
        error_callback: Any = None,
    ) -> AsyncResult:
        """The same, without waiting for it."""
        options = {} if kwds is None else kwds
        return self._start(lambda: func(*args, **options), callback, error_callback)

    def map(self, func: Any, iterable: Any, chunksize: Any = None) -> list[Any]:
        """The results for all items, in order."""
        return self.map_async(func, iterable, chunksize).get()

    def starmap(self, func: Any, iterable: Any, chunksize: Any = None) -> list[Any]:
        """map() for items that are several arguments."""
        return self.starmap_async(func, iterable, chunksize).get()

    def map_async(
        self,
        func: Any,
        iterable: Any,
        chunksize: Any = None,
        callback: Any = None,
        error_callback: Any = None,
    ) -> AsyncResult:
        """map(), without waiting for it."""
        return self._map(lambda item: func(item), iterable, callback, error_callback)

    def starmap_async(
        self,
        func: Any,
        iterable: Any,
        chunksize: Any = None,
        callback: Any = None,
        error_callback: Any = None,
    ) -> AsyncResult:
        """starmap(), without waiting for it."""
        return self._map(lambda item: func(*item), iterable, callback, error_callback)

    def _map(
        self, func: Callable[[Any], Any], iterable: Iterable[Any], callback: Any, on_error: Any
    ) -> AsyncResult:
        items = list(iterable)
        whole = AsyncResult(callback, on_error)
        values: list[Any] = [None] * len(items)
        failures: list[BaseException] = []
        left = len(items)

        def part(index: int, item: Any) -> None:
            nonlocal left
            try:
                values[index] = func(item)
            except Exception as error:
                failures.append(error)
            left -= 1
            if left == 0:
                whole._call.end(not failures, failures[0] if failures else values)

        if not items:
            whole._call.end(True, values)
        for index, item in enumerate(items):
            self._start(lambda index=index, item=item: part(index, item))  # type: ignore[misc]
        return whole

    def imap(self, func: Any, iterable: Any, chunksize: Any = 1) -> Iterator[Any]:
        """The results in order, each as soon as it is there."""
        started = [self._start(lambda item=item: func(item)) for item in iterable]
        return (result.get() for result in started)

    def imap_unordered(self, func: Any, iterable: Any, chunksize: Any = 1) -> Iterator[Any]:
        """The results in the order in which the calls end."""
        done: Any = queue.SimpleQueue()
        items = list(iterable)
        for item in items:
            result = AsyncResult()
            result._call.tell = lambda result=result: done.put(result)  # type: ignore[misc]
            self._submit(lambda item=item: func(item), result._call)  # type: ignore[misc]
        return (done.get().get() for _ in items)

    def close(self) -> None:
        """Accepts no more calls; the threads end after the ones there are."""
        if self._state is _RUN:
            self._state = _CLOSED
            for _ in self._threads:
                self._calls.put(None)

    def terminate(self) -> None:
        """close(), and drops the calls that have not begun."""
        self._state = _TERMINATED
        with contextlib.suppress(queue.Empty):
            while True:
                self._calls.get_nowait()
        for _ in self._threads:
            self._calls.put(None)

    def join(self) -> None:
        """Waits for the threads, after close() or terminate()."""
        if self._state is _RUN:
            raise ValueError("Pool is still running")
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Any:
        if self._state is not _RUN:
            raise ValueError("Pool not running")
        return self

    def __exit__(self, *_: object) -> None:
        self.terminate()

    def __repr__(self) -> str:
        return f"<multiprocessing.pool.Pool state={self._state} pool_size={len(self._threads)}>"


_numbers = itertools.count(1)
_DEFAULT_THREADS = 4  # more than processors: most calls of a demonstration wait
ThreadPool = Pool


class _Context:
    """What get_context() returns."""

    __slots__ = ()


for _name, _value in (
    ("Array", Array), ("Barrier", Barrier), ("Condition", Condition), ("Event", Event),
    ("JoinableQueue", JoinableQueue), ("Lock", Lock), ("Manager", Manager), ("Pipe", Pipe),
    ("Pool", Pool), ("Process", Process), ("Queue", Queue), ("RLock", RLock),
    ("Semaphore", Semaphore), ("SimpleQueue", SimpleQueue), ("Value", Value),
    ("cpu_count", cpu_count), ("current_process", current_process),
):  # fmt: skip
    setattr(_Context, _name, staticmethod(_value))
_CONTEXT = _Context()


def get_context(method: Any = None) -> Any:
    """The same functions and classes."""
    return _CONTEXT
