"""An event loop with callbacks and timers, without I/O.

It does for tasks what asyncio.base_events does, without descriptors and signals. Order and timing
are the library's: callbacks run in FIFO order, those added by callbacks run in the next round, and
expired timers run in the order of their times. Other threads run while it waits (scheduler.py).
"""

from __future__ import annotations

import _thread
import collections
import contextlib
import heapq
import math
import sys
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from .. import scheduler
from . import host_calls
from .executors import RunsInThreads, uses_kernel_threads
from .lean import events, futures, tasks
from .log import write_error

_MAX_SLEEP = 24 * 3600.0  # seconds
# Cancelled timers stay in the heap until there are many: most timeouts are cancelled.
_MANY_TIMERS = 100
_MANY_CANCELLED = 0.5

STUCK = (
    "[BJ502] every task waits for another task (deadlock): without other threads, sockets and "
    "signals nothing else can wake this event loop; look for a future, lock or queue that is never "
    "set, released or filled"
)


def _set_task_name(task: Any, name: Any) -> None:
    if name is not None:
        task.set_name(name)


# Python 3.13 no longer has this function, and does not warn about tasks without set_name().
_set_name = getattr(tasks, "_set_task_name", _set_task_name)


class EventLoop(RunsInThreads, events.AbstractEventLoop):
    """The event loop of asyncio.new_event_loop(). Programs cannot derive from it or write to it,
    and its methods check the type of `self`: see sealing.py."""

    slow_callback_duration = 0.1

    def __init__(self) -> None:
        self._ready: collections.deque[Any] = collections.deque()
        self._scheduled: list[Any] = []  # a heap of timer handles
        self._cancelled_timers = 0
        self._clock_resolution = time.get_clock_info("monotonic").resolution
        self._running = False
        self._stopping = False
        self._closed = False
        self._debug = False
        self._exception_handler: Callable | None = None
        self._task_factory: Callable | None = None
        self._asyncgens: weakref.WeakSet[Any] = weakref.WeakSet()
        self._asyncgens_are_shut = False
        self._waiting: Any = None  # the strand that waits in _wait()
        self._alarm = _thread.allocate_lock()  # the same with the policy off: held until it rings
        self._alarm.acquire()

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} running={self._running} "
            f"closed={self._closed} debug={self._debug}>"
        )

    # --- running ---------------------------------------------------------------------------------

    def run_forever(self) -> None:
        """Runs callbacks until stop(); raises RuntimeError if nothing can run any more."""
        self._check_closed()
        self._check_running()
        hooks = sys.get_asyncgen_hooks()
        try:
            self._running = True
            sys.set_asyncgen_hooks(firstiter=self._asyncgen_starts, finalizer=self._asyncgen_ends)
            events._set_running_loop(self)
            while True:
                self._run_once()
                if self._stopping:
                    break
        finally:
            self._stopping = False
            self._running = False
            events._set_running_loop(None)
            sys.set_asyncgen_hooks(*hooks)

    def run_until_complete(self, future: Any) -> Any:
        """Runs until the future or coroutine is done; returns or raises its outcome."""
        self._check_closed()
        self._check_running()
        is_new = not futures.isfuture(future)
        future = tasks.ensure_future(future, loop=self)
        if is_new:  # its exception is raised here, so the pending task is not reported
            future._log_destroy_pending = False
        future.add_done_callback(self._stop_with)
        try:
            self.run_forever()
        except BaseException:
            if is_new and future.done() and not future.cancelled():
                future.exception()  # the caller has no way to: mark it as seen
            raise
        finally:
            future.remove_done_callback(self._stop_with)
        if not future.done():
            raise RuntimeError("Event loop stopped before Future completed.")
        return future.result()

    # A method: a function in a task's repr would show its path on the host.
    def _stop_with(self, future: Any) -> None:
        if not future.cancelled() and isinstance(
            future.exception(), (SystemExit, KeyboardInterrupt)
        ):
            return  # it has ended run_forever() already
        self._stopping = True

    def stop(self) -> None:
        """Stops run_forever() after this round."""
        self._stopping = True

    def close(self) -> None:
        """Drops what is scheduled; the loop cannot run again."""
        if self._running:
            raise RuntimeError("Cannot close a running event loop")
        self._closed = True
        self._ready.clear()
        self._scheduled.clear()
        self._drop_executor()

    def is_running(self) -> bool:
        """True inside run_forever()."""
        return self._running

    def is_closed(self) -> bool:
        """True after close()."""
        return self._closed

    def time(self) -> float:
        """The loop's clock: seconds, monotonic."""
        return time.monotonic()

    def _check_closed(self) -> None:
        if self._closed:
            raise RuntimeError("Event loop is closed")

    def _check_running(self) -> None:
        if self._running:
            raise RuntimeError("This event loop is already running")
        if events._get_running_loop() is not None:
            raise RuntimeError("Cannot run the event loop while another loop is running")

    def _run_once(self) -> None:
        self._drop_cancelled_timers()
        self._wait()
        due = time.monotonic() + self._clock_resolution
        while self._scheduled and self._scheduled[0]._when < due:
            handle = heapq.heappop(self._scheduled)
            handle._scheduled = False
            self._ready.append(handle)
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if not handle._cancelled:
                handle._run()
        handle = None  # an exception's traceback holds this frame, and the handle its exception

    def _drop_cancelled_timers(self) -> None:
        timers = self._scheduled
        if len(timers) > _MANY_TIMERS and self._cancelled_timers > len(timers) * _MANY_CANCELLED:
            for handle in timers:
                if handle._cancelled:
                    handle._scheduled = False
            self._scheduled = [handle for handle in timers if not handle._cancelled]
            heapq.heapify(self._scheduled)
            self._cancelled_timers = 0
            return
        while timers and timers[0]._cancelled:
            self._cancelled_timers -= 1
            heapq.heappop(timers)._scheduled = False

    def _wait(self) -> None:
        """Sleeps until the next timer expires, unless callbacks are ready."""
        if self._ready or self._stopping:
            host_calls.glance()
            return
        delay = None
        if self._scheduled:
            delay = min(self._scheduled[0]._when - time.monotonic(), _MAX_SLEEP)
            if delay <= 0:
                host_calls.glance()
                return
            # Rounded up to milliseconds, like epoll: timers within one run in the same round.
            delay = math.ceil(delay * 1e3) * 1e-3
        if host_calls.are_pending():
            pause = host_calls.wait(delay)
            if pause > 0 and not self._ready:
                self._alarm.acquire(True, pause)
            return
        is_alone = (_thread._count() == 0) if uses_kernel_threads() else scheduler.is_alone()
        if delay is None and is_alone:
            raise RuntimeError(STUCK)
        if uses_kernel_threads():
            self._alarm.acquire(True, -1 if delay is None else delay)
            return
        self._waiting = scheduler.running()
        try:
            scheduler.until_woken(lambda: "a task of its event loop", delay)
        finally:
            self._waiting = None

    # --- callbacks and timers --------------------------------------------------------------------

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> Any:
        """Calls `callback(*args)` in the next round."""
        self._check_closed()
        handle = events.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Any = None) -> Any:
        """call_soon() from another thread."""
        handle = self.call_soon(callback, *args, context=context)
        if self._waiting is not None:
            scheduler.wake(self._waiting)
        elif uses_kernel_threads():
            with contextlib.suppress(RuntimeError):  # it rings already
                self._alarm.release()
        return handle

    def call_later(self, delay: Any, callback: Any, *args: Any, context: Any = None) -> Any:
        """Calls `callback(*args)` after `delay` seconds."""
        if delay is None:
            raise TypeError("delay must not be None")
        return self.call_at(time.monotonic() + delay, callback, *args, context=context)

    def call_at(self, when: Any, callback: Any, *args: Any, context: Any = None) -> Any:
        """Calls `callback(*args)` when the loop's clock shows `when`."""
        if when is None:
            raise TypeError("when cannot be None")
        self._check_closed()
        timer = events.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._scheduled, timer)
        timer._scheduled = True
        return timer

    def _timer_handle_cancelled(self, handle: Any) -> None:
        if handle._scheduled:
            self._cancelled_timers += 1

    # --- futures and tasks -----------------------------------------------------------------------

    def create_future(self) -> Any:
        """A future of this loop."""
        return futures.Future(loop=self)

    def create_task(
        self, coro: Any, *, name: Any = None, context: Any = None, **options: Any
    ) -> Any:
        """A task that runs the coroutine `coro`; `options` are those of later Pythons' Task."""
        self._check_closed()
        if self._task_factory is None:
            return tasks.Task(coro, loop=self, name=name, context=context, **options)
        if context is not None:
            options["context"] = context
        if name is not None and sys.version_info >= (3, 14):
            return self._task_factory(self, coro, name=name, **options)
        task = self._task_factory(self, coro, **options)
        _set_name(task, name)
        return task

    def set_task_factory(self, factory: Any) -> None:
        """Uses `factory(loop, coro)` to create tasks; None: the default."""
        if factory is not None and not callable(factory):
            raise TypeError("task factory must be a callable or None")
        self._task_factory = factory

    def get_task_factory(self) -> Any:
        """The argument of set_task_factory()."""
        return self._task_factory

    # --- asynchronous generators -----------------------------------------------------------------

    def _asyncgen_starts(self, agen: Any) -> None:
        if self._asyncgens_are_shut:
            warnings.warn(
                f"asynchronous generator {agen!r} was scheduled after "
                f"loop.shutdown_asyncgens() call",
                ResourceWarning,
                source=self,
                stacklevel=2,
            )
        self._asyncgens.add(agen)

    def _asyncgen_ends(self, agen: Any) -> None:
        self._asyncgens.discard(agen)
        if not self._closed:
            self.call_soon(self.create_task, agen.aclose())

    async def shutdown_asyncgens(self) -> None:
        """Closes unfinished asynchronous generators."""
        self._asyncgens_are_shut = True
        closing = list(self._asyncgens)
        if not closing:
            return
        self._asyncgens.clear()
        results = await tasks.gather(*[agen.aclose() for agen in closing], return_exceptions=True)
        for result, agen in zip(results, closing, strict=True):
            if isinstance(result, Exception):
                self.call_exception_handler(
                    {
                        "message": "an error occurred during closing of "
                        f"asynchronous generator {agen!r}",
                        "exception": result,
                        "asyncgen": agen,
                    }
                )

    # --- errors ----------------------------------------------------------------------------------

    def get_exception_handler(self) -> Any:
        """The argument of set_exception_handler()."""
        return self._exception_handler

    def set_exception_handler(self, handler: Any) -> None:
        """Calls `handler(loop, context)` for unhandled errors; None: the default."""
        if handler is not None and not callable(handler):
            raise TypeError(f"A callable object or None is expected, got {handler!r}")
        self._exception_handler = handler

    def default_exception_handler(self, context: Any) -> None:
        """Writes the message, the exception and the rest of `context` to stderr."""
        lines = [context.get("message") or "Unhandled exception in event loop"]
        for key in sorted(context):
            if key not in {"message", "exception"}:
                lines.append(f"{key}: {context[key]!r}")
        write_error("\n".join(lines), context.get("exception"))

    def call_exception_handler(self, context: Any) -> None:
        """Calls the handler, and the default handler for an error in it."""
        try:
            if self._exception_handler is None:
                self.default_exception_handler(context)
            else:
                self._call_handler(context)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            write_error("Exception in default exception handler", error)

    def _call_handler(self, context: Any) -> None:
        try:
            self._exception_handler(self, context)  # type: ignore[misc]
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            self.default_exception_handler(
                {
                    "message": "Unhandled error in exception handler",
                    "exception": error,
                    "context": context,
                }
            )

    def get_debug(self) -> bool:
        """The argument of set_debug()."""
        return self._debug

    def set_debug(self, enabled: Any) -> None:
        """Only stored for get_debug(): debug mode would record stacks."""
        self._debug = enabled


# Since Python 3.14 policies are deprecated; those that the library keeps for itself are private.
_Policy: Any = getattr(events, "_BaseDefaultEventLoopPolicy", None)
if _Policy is None:
    _Policy = events.BaseDefaultEventLoopPolicy


class Policy(_Policy):
    """Creates the loops of get_event_loop(), new_event_loop() and Runner."""

    _loop_factory = EventLoop
