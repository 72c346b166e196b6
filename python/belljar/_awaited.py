"""Calls of coroutine functions, which a program begins and awaits side by side.

A worker's messages are hostile: it may begin more calls than a runner does, await none, or name
numbers that it was never given. Such a run is ended.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import FIRST_COMPLETED, Future
from functools import partial
from typing import Any, Protocol

from belljar._errors import RefusedCall

Function = Callable[..., Any]

# How many may have begun and not ended (engine/inside/runner/host_calls.py has the same).
MAX_BEGUN = 16
# How long one question waits, in seconds: the engine looks at its clocks between them.
_SLICE = 0.1


class Work(Protocol):
    """What runs coroutine functions. All is called in the thread of the run."""

    def begin(self, function: Function, args: list[Any], kwargs: dict[str, Any]) -> Future[Any]:
        """The future is done once the function has ended, cancelled or not."""

    def wait(self, futures: set[Future[Any]], seconds: float | None) -> None:
        """Until one of them is done."""

    def cancel(self, future: Future[Any]) -> None: ...

    def close(self) -> None:
        """The run has ended: cancels what has not."""


class AwaitedCalls:
    """Those of one run."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._last = 0
        self._begun: dict[int, tuple[str, Future[Any]]] = {}
        self._cancelled: set[Future[Any]] = set()  # and still running

    def begin(self, name: str, function: Function, args: list[Any], kwargs: dict[str, Any]) -> int:
        """The number of the call."""
        if len(self._begun) >= MAX_BEGUN:
            raise RefusedCall
        while len(self._begun) + len(self._still_running()) >= MAX_BEGUN:
            self._work.wait(self._cancelled, None)
        self._last += 1
        self._begun[self._last] = name, self._work.begin(function, args, kwargs)
        return self._last

    def _still_running(self) -> set[Future[Any]]:
        self._cancelled = {each for each in self._cancelled if not each.done()}
        return self._cancelled

    def ended(self, *args: object) -> tuple[int, str, Callable[[], Any]] | None:
        """A call that has ended: its number, the function's name, and what returns or raises its
        result. None: none has, yet. `args`: the seconds that a worker asks for, if any.
        """
        if not self._begun:
            raise RefusedCall
        seconds = _SLICE
        if args:
            asked = args[0]
            if len(args) > 1 or type(asked) is not float or not asked >= 0:
                raise RefusedCall
            seconds = min(asked, _SLICE)
        self._work.wait({future for _, future in self._begun.values()}, seconds)
        for number, (name, future) in self._begun.items():
            if future.done():
                del self._begun[number]
                return number, name, partial(future.result, 0)
        return None

    def cancel(self, *args: object) -> None:
        """`args`: the number that a worker sends."""
        if len(args) != 1 or type(args[0]) is not int or args[0] not in self._begun:
            raise RefusedCall
        _, future = self._begun.pop(args[0])
        self._cancelled.add(future)
        self._work.cancel(future)

    def close(self) -> None:
        self._work.close()


async def settling(
    function: Callable[..., Awaitable[Any]],
    args: Iterable[Any],
    kwargs: dict[str, Any],
    future: Future[Any],
) -> None:
    """Tells the future what comes of a call."""
    try:
        value = await function(*args, **kwargs)
    except BaseException as error:
        settle(future, None, error)
        if not isinstance(error, Exception):
            raise
    else:
        settle(future, value, None)


def begin_task(
    loop: asyncio.AbstractEventLoop,
    settles: Coroutine[Any, Any, None],
    future: Future[Any],
    tasks: dict[Future[Any], asyncio.Task[None]],
) -> None:
    """Keeps the task in `tasks` until it has ended. Called in the loop's thread."""
    tasks[future] = loop.create_task(settles)

    def end(task: asyncio.Task[None]) -> None:
        del tasks[future]
        if not task.cancelled():
            task.exception()  # which the future has, too
        settle(future, None, asyncio.CancelledError())  # before it began

    tasks[future].add_done_callback(end)


def settle(future: Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(value)


def wait_for_any(futures: set[Future[Any]], seconds: float | None) -> None:
    concurrent.futures.wait(futures, seconds, FIRST_COMPLETED)


class OwnLoop:
    """An event loop of the run's own, which runs in the run's thread while the program waits."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._tasks: dict[Future[Any], asyncio.Task[None]] = {}

    def begin(self, function: Function, args: list[Any], kwargs: dict[str, Any]) -> Future[Any]:
        future: Future[Any] = Future()
        begin_task(
            self._runner.get_loop(), settling(function, args, kwargs, future), future, self._tasks
        )
        return future

    def wait(self, futures: set[Future[Any]], seconds: float | None) -> None:
        if any(each.done() for each in futures):
            return
        tasks = [self._tasks[each] for each in futures]
        self._runner.run(_first_of(tasks, seconds))

    def cancel(self, future: Future[Any]) -> None:
        if future in self._tasks:
            self._tasks[future].cancel()

    def close(self) -> None:
        self._runner.close()


async def _first_of(tasks: list[asyncio.Task[None]], seconds: float | None) -> None:
    await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
