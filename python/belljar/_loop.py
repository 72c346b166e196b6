"""Between an event loop and the threads that run programs for it."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from belljar import _functions, _host, _options
from belljar._awaited import begin_task, settle, settling, wait_for_any
from belljar._errors import BelljarError
from belljar._requests import Stream
from belljar._result import Result
from belljar._threads import Threads

T = TypeVar("T")

_is_within_run = contextvars.ContextVar("belljar_is_within_run", default=False)


class LoopThreads:
    """The threads of an AsyncSandbox and its sessions, for what would block the event loop."""

    def __init__(self, maximum: int) -> None:
        self._threads = Threads(maximum)
        self._running: set[LoopCalls] = set()

    async def do(self, step: Callable[[], T]) -> T:
        # Within a run, whose thread waits for this one: an extra thread avoids a deadlock.
        return await _done_in(Threads(1) if _is_within_run.get() else self._threads, step)

    async def do_at_once(self, step: Callable[[], T]) -> T:
        """For what must not wait for runs, which may keep all threads busy. A cancellation does not
        prevent it."""
        return await _done_in(Threads(1), step, always=True)

    async def run(self, calls: LoopCalls, run: Callable[[], Result]) -> Result:
        """A run in another thread, which calls into this one's."""
        self._running.add(calls)
        try:
            result = await self.do(run)
        except BaseException:
            calls.cancellation.cancel()
            raise
        finally:
            calls.end_answers(asyncio.CancelledError())
            self._running.discard(calls)
        calls.raise_failure()
        return result

    def stop_runs(self, error: BelljarError) -> None:
        for calls in self._running:
            # First, or the program could end because of the answer.
            calls.stop()
            calls.end_answers(error)

    def close(self) -> None:
        self._threads.close()


async def _done_in(threads: Threads, step: Callable[[], T], *, always: bool = False) -> T:
    """Runs `step` in one of the threads. A cancellation does not wait for it to finish, and before
    a thread is free it prevents `step`, unless `always`."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def task() -> None:
        if done.cancelled() and not always:
            return
        result, error = None, None
        try:
            result = step()
        except BaseException as raised:
            error = raised
        _soon(loop, None, settle, result, error)

    threads.do(task)
    return await done


def _soon(
    loop: asyncio.AbstractEventLoop,
    context: contextvars.Context | None,
    call: Callable[..., object],
    *arguments: Any,
) -> bool:
    """False if the loop is already closed."""
    try:
        loop.call_soon_threadsafe(call, *arguments, context=context)
    except RuntimeError:
        return False
    return True


class LoopCalls:
    """The calls that one run makes from its thread into the event loop's thread."""

    def __init__(self) -> None:
        self.cancellation = _host.Canceller()
        # When the sandbox is closed.
        self.stop: Callable[[], None] = self.cancellation.cancel
        self._loop = asyncio.get_running_loop()
        # Functions and `stream` see a copy of the caller's context: what one call sets is visible
        # to the next call, but not to the caller.
        self.context = contextvars.copy_context()
        self.context.run(_is_within_run.set, True)
        self._stream: Stream | None = None
        self._failure: BaseException | None = None
        # Answers that the run's thread waits for, and the tasks that compute them.
        self._tasks: dict[Future[Any], asyncio.Task[None]] = {}
        self._end: BaseException | None = None

    def routed(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a run, with callbacks that are called in the loop's thread."""
        routed = {**options}
        if (stream := options.get("stream")) is not None:
            self._stream = _options.stream("stream", stream)
            routed["stream"] = self._show_soon
        if (functions := options.get("functions")) is not None:
            routed["functions"] = {
                name: each if _functions.is_coroutine_function(each) else self._from_thread(each)
                for name, each in _functions.checked("functions", functions).items()
            }
        return routed

    def _show_soon(self, name: str, text: str) -> None:
        """Called in the run's thread."""
        _soon(self._loop, self.context, self._show, name, text)

    def _show(self, name: str, text: str) -> None:
        if self._failure is not None or self._end is not None or self._stream is None:
            return
        try:
            self._stream(name, text)
        except BaseException as error:
            self._failure = error
            self.cancellation.cancel()

    def raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _from_thread(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps `function` for a caller in another thread: it runs in the loop's thread."""

        def call(*args: Any, **kwargs: Any) -> Any:
            answer: Future[Any] = Future()
            if not _soon(self._loop, self.context, self._begin, answer, function, args, kwargs):
                raise asyncio.CancelledError
            return answer.result()

        return call

    # --- coroutine functions, for _awaited.py -----------------------------------------------------

    def begin(
        self, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]
    ) -> Future[Any]:
        """Called in the run's thread."""
        answer: Future[Any] = Future()
        if not _soon(self._loop, self.context, self._begin, answer, function, args, kwargs):
            raise asyncio.CancelledError
        return answer

    def wait(self, futures: set[Future[Any]], seconds: float | None) -> None:
        wait_for_any(futures, seconds)

    def cancel(self, future: Future[Any]) -> None:
        """Called in the run's thread."""
        _soon(self._loop, self.context, self._cancel, future)

    def _cancel(self, future: Future[Any]) -> None:
        if future in self._tasks:
            self._tasks[future].cancel()

    def close(self) -> None:
        """Done by end_answers, in the loop's thread."""

    def _begin(
        self,
        answer: Future[Any],
        function: Callable[..., Any],
        args: Iterable[Any],
        kwargs: dict[str, Any],
    ) -> None:
        if self._end is not None:
            answer.set_exception(self._end)
            return
        if not _functions.is_coroutine_function(function):
            try:
                value = function(*args, **kwargs)
            except BaseException as error:
                answer.set_exception(error)
                return
            if not inspect.isawaitable(value):
                answer.set_result(value)
                return
            function, args, kwargs = (lambda: value), (), {}
        # In a copy of this call's context.
        begin_task(self._loop, settling(function, args, kwargs, answer), answer, self._tasks)

    def end_answers(self, error: BaseException) -> None:
        """Called in the loop's thread when the run ends: its thread must not wait any longer."""
        self._end = error
        for answer, task in list(self._tasks.items()):
            settle(answer, None, error)
            task.cancel()
