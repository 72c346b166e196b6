"""A bounded number of threads that do what they are given, in order.

Not concurrent.futures: its threads are waited for at the interpreter's end, before anybody could
kill what runs in them, and it takes long to import.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

from belljar import _forks
from belljar._errors import BelljarError

Task = Callable[[], None]


def usual_concurrency(spares: int | None) -> int:
    """How many programs are worth running at a time: a processor and a waiting worker for each."""
    return max(1, min(len(os.sched_getaffinity(0)), 4 if spares is None else spares))


class Threads:
    """Starts them as they are needed. A task raises nothing."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._after_fork()
        _forks.know(self)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._idle = 0
        self._started: list[threading.Thread] = []
        self._is_closed = False

    def do(self, task: Task) -> None:
        with self._lock:
            if self._is_closed:
                raise BelljarError("run in a sandbox", "run in a sandbox: it is closed")
            self._tasks.put(task)
            if self._idle > 0:
                self._idle -= 1
            elif len(self._started) < self._most:
                thread = threading.Thread(target=self._work, name="belljar", daemon=True)
                thread.start()
                self._started.append(thread)

    def _work(self) -> None:
        tasks, lock = self._tasks, self._lock
        while task := tasks.get():
            task()
            del task  # and what it holds
            with lock:
                self._idle += 1

    def close(self) -> None:
        """Returns when all that was given is done."""
        with self._lock:
            self._is_closed = True
            started = self._started
            for _ in started:
                self._tasks.put(None)
        for thread in started:
            if thread is not threading.current_thread():
                thread.join()
