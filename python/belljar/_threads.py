"""A bounded number of threads that do what they are given, in order.

Not concurrent.futures: its threads are waited for at the interpreter's end, before anybody could
kill what runs in them, and it takes long to import.
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


def default_concurrency(spares: int | None) -> int:
    """How many programs are worth running at a time: a processor and a waiting worker for each."""
    return max(1, min(len(os.sched_getaffinity(0)), 4 if spares is None else spares))


class _Work:
    """What the threads hold, so that they keep nobody alive who only gives them something to do."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tasks: SimpleQueue[Task | None] = SimpleQueue()
        self.started: list[threading.Thread] = []
        self.idle = 0

    def do(self) -> None:
        while task := self.tasks.get():
            task()
            del task  # and what it holds
            with self.lock:
                self.idle += 1

    def end(self) -> None:
        """When all that was given is done. Takes no lock: the collector may call it anywhere."""
        for _ in self.started:
            self.tasks.put(None)


class Threads:
    """Starts them as they are needed. A task raises nothing. They end with it, closed or not."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._after_fork()
        _forks.know(self)

    def _after_fork(self) -> None:
        self._work = _Work()
        self._is_closed = False
        weakref.finalize(self, self._work.end).atexit = False

    def do(self, task: Task) -> None:
        work = self._work
        with work.lock:
            if self._is_closed:
                raise BelljarError("run in a sandbox", "run in a sandbox: it is closed")
            work.tasks.put(task)
            if work.idle > 0:
                work.idle -= 1
            elif len(work.started) < self._most:
                thread = threading.Thread(target=work.do, name="belljar", daemon=True)
                thread.start()
                work.started.append(thread)

    def close(self) -> None:
        """Returns when all that was given is done."""
        with self._work.lock:
            self._is_closed = True
            self._work.end()
        for thread in self._work.started:
            if thread is not threading.current_thread():
                thread.join()
