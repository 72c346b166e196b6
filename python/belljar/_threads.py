"""A pool of at most a given number of threads, which run tasks in order.

Not concurrent.futures: the interpreter joins its threads at exit before we could kill the runs in
them, and it is slow to import.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue

from belljar import _forks
from belljar._errors import BelljarError

Task = Callable[[], None]


def processors() -> int:
    """How many this process may use. Only on Linux can that be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_concurrency(spares: int | None) -> int:
    """How many programs to run at a time: each needs a processor and a spare."""
    return max(1, min(processors(), 4 if spares is None else spares))


def in_main_thread() -> bool:
    """Whether Python's signal handlers run in this thread."""
    return threading.get_ident() == threading.main_thread().ident


class _Starter:
    """Starts threads until the interpreter exits.

    CPython 3.11 crashes if a daemon thread begins while the interpreter is being finalised, which
    frees the state that the thread is about to use. So end() waits until a thread that is being
    started runs, and none is started afterwards.
    """

    def __init__(self) -> None:
        self._is_ending = False
        self._after_fork()
        _forks.register(self)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()

    def start(self, thread: threading.Thread) -> None:
        with self._lock:
            if self._is_ending:
                raise BelljarError(
                    "run in a sandbox", "run in a sandbox: the interpreter is ending"
                )
            thread.start()

    def end(self) -> None:
        with self._lock:
            self._is_ending = True


starter = _Starter()


class _Work:
    """The state that the threads share. It is separate so that they do not keep `Threads` alive."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tasks: SimpleQueue[Task | None] = SimpleQueue()
        self.started: list[threading.Thread] = []
        self.idle = 0

    def do(self) -> None:
        while task := self.tasks.get():
            task()
            del task  # releases what it references
            with self.lock:
                self.idle += 1

    def end(self) -> None:
        """Stops the threads after the queued tasks. Takes no lock: the collector may call it."""
        for _ in self.started:
            self.tasks.put(None)


class Threads:
    """Starts threads on demand; they end with this object, closed or not. Tasks must not raise."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._after_fork()
        _forks.register(self)

    def _after_fork(self) -> None:
        self._work = _Work()
        self._is_closed = False
        weakref.finalize(self, self._work.end).atexit = False

    def do(self, task: Task) -> None:
        work = self._work
        with work.lock:
            if self._is_closed:
                raise BelljarError("run in a sandbox", "run in a sandbox: it is closed")
            if work.idle > 0:
                work.idle -= 1
            elif len(work.started) < self._maximum:
                thread = threading.Thread(target=work.do, name="belljar", daemon=True)
                starter.start(thread)
                work.started.append(thread)
            work.tasks.put(task)

    def close(self) -> None:
        """Waits for all queued tasks to finish."""
        with self._work.lock:
            self._is_closed = True
            self._work.end()
        for thread in self._work.started:
            if thread is not threading.current_thread():
                thread.join()
