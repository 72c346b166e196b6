"""Functions that run in threads on behalf of tasks: loop.run_in_executor() and asyncio.to_thread().

Executors and their futures are those of concurrent_futures.py. What a program passes as an
executor must be one of these, or derive from one, since its futures are trusted. With the policy
off they are the library's, and threads are the kernel's: fibers belong to the main one, and loops
may run in any.
"""

from __future__ import annotations

import contextvars
import functools
import importlib
from typing import Any

from .. import concurrent_futures, program, threading
from ..objects import is_a
from .lean import coroutines, events, exceptions, futures, tasks


def uses_kernel_threads() -> bool:
    """Whether the policy is off."""
    return program.running.scope is program.NO_SCOPE


def _executors() -> Any:
    """concurrent.futures: ours or the library's."""
    if uses_kernel_threads():
        return importlib.import_module("concurrent.futures")
    return concurrent_futures


class RunsInThreads:
    """The part of an event loop that hands functions to executors."""

    _default_executor: Any = None
    _executor_is_shut = False

    def run_in_executor(self: Any, executor: Any, func: Any, *args: Any) -> Any:
        """A future of `func(*args)`, called in a thread of the executor; None: the loop's own."""
        self._check_closed()
        if executor is None:
            if self._executor_is_shut:
                raise RuntimeError("Executor shutdown has been called")
            if self._default_executor is None:
                self._default_executor = _executors().ThreadPoolExecutor(
                    thread_name_prefix="asyncio"
                )
            executor = self._default_executor
        return wrap_future(_executor(executor).submit(func, *args), loop=self)

    def set_default_executor(self: Any, executor: Any) -> None:
        """Uses `executor` where None is given."""
        if not is_a(executor, _executors().ThreadPoolExecutor):
            raise TypeError("executor must be ThreadPoolExecutor instance")
        self._default_executor = executor

    async def shutdown_default_executor(self: Any, timeout: Any = None) -> None:
        """Waits until its threads have ended."""
        self._executor_is_shut = True
        executor, self._default_executor = self._default_executor, None
        if executor is None:
            return
        over = self.create_future()

        def shut() -> None:
            executor.shutdown(wait=True)
            if not self.is_closed():
                self.call_soon_threadsafe(lambda: None if over.done() else over.set_result(None))

        kind: Any = importlib.import_module("threading") if uses_kernel_threads() else threading
        kind.Thread(target=shut).start()
        await tasks.wait([over], timeout=timeout)

    def _drop_executor(self: Any) -> None:
        self._executor_is_shut = True
        executor, self._default_executor = self._default_executor, None
        if executor is not None:
            executor.shutdown(wait=False)


def _executor(executor: Any) -> Any:
    if not is_a(executor, _executors().Executor):
        raise TypeError(f"an Executor was expected, not {type(executor).__name__!r}")
    return executor


def wrap_future(future: Any, *, loop: Any = None) -> Any:
    """A future of the event loop that ends with the concurrent.futures.Future `future`."""
    if futures.isfuture(future):
        return future
    if type(future) is not _executors().Future:
        raise TypeError(f"concurrent.futures.Future is expected, got {type(future).__name__!r}")
    if loop is None:
        loop = events.get_event_loop()
    ours = loop.create_future()

    def copy() -> None:
        if ours.done():
            return
        if future.cancelled():
            ours.cancel()
        elif future.exception() is not None:
            ours.set_exception(_for_loop(future.exception()))
        else:
            ours.set_result(future.result())

    def ends(_: Any) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(copy)

    def is_cancelled(_: Any) -> None:
        if ours.cancelled():
            future.cancel()

    ours.add_done_callback(is_cancelled)
    future.add_done_callback(ends)
    return ours


def _for_loop(error: BaseException) -> BaseException:
    """The library's conversion: a task that waits for a cancelled future is cancelled."""
    if type(error) is _executors().CancelledError:
        return exceptions.CancelledError(*error.args)
    return error


async def to_thread(func: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls `func` in a thread, with the context of the task."""
    loop = events.get_running_loop()
    context = contextvars.copy_context()
    return await loop.run_in_executor(None, functools.partial(context.run, func, *args, **kwargs))


def run_coroutine_threadsafe(coro: Any, loop: Any) -> Any:
    """A concurrent.futures.Future of a task that runs `coro` in the loop of another thread."""
    if not coroutines.iscoroutine(coro):
        raise TypeError("A coroutine object is required")
    future = _executors().Future()

    def begin() -> None:
        try:
            task = tasks.ensure_future(coro, loop=loop)
        except BaseException as error:
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
            raise
        task.add_done_callback(ends)
        future.add_done_callback(lambda _: _cancel(task))

    def ends(task: Any) -> None:
        if future.done() or not future.set_running_or_notify_cancel():
            return
        if task.cancelled():
            future.set_exception(_executors().CancelledError())
        elif task.exception() is not None:
            future.set_exception(task.exception())
        else:
            future.set_result(task.result())

    def _cancel(task: Any) -> None:
        if future.cancelled() and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    loop.call_soon_threadsafe(begin)
    return future
