"""`AsyncSandbox`: the sandbox for asyncio."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack
from weakref import WeakSet

from belljar import _functions, _host, _options
from belljar._errors import BelljarError
from belljar._info import Info
from belljar._options import ContainerOptions, FileContent, Seconds, Size
from belljar._result import Result, Validation
from belljar._sandbox import RunOptions, Sandbox, Stream
from belljar._threads import Threads, default_concurrency, processors

if TYPE_CHECKING:
    from belljar._async_session import AsyncSession
    from belljar._wire import RunRequest

T = TypeVar("T")

_is_within_run = contextvars.ContextVar("belljar_is_within_run", default=False)


class AsyncSandbox:
    """Runs programs without blocking the event loop.

        >>> import asyncio
        >>> async def main():
        ...     async with AsyncSandbox(timeout=5) as box:
        ...         return (await box.run("6 * 7")).value
        >>> asyncio.run(main())
        42

    Opens on first use. Takes the arguments of `Sandbox`, and:

    Args:
        concurrency: How many programs run at a time; further ones wait. None: the number of
            processors plus 4, at most 32. Runs started by a function that a program calls do not
            count.
    """

    def __init__(
        self,
        profile: str | None = None,
        *,
        timeout: Seconds | None = None,
        memory: Size | None = None,
        cpu: Seconds | None = None,
        output: Size | None = None,
        isolation: Literal["strict", "standard"] = "strict",
        language: Literal["restricted", "full"] = "restricted",
        allowed_imports: Iterable[str] | None = None,
        allow_domains: Iterable[str] = (),
        allow_private: Iterable[str] = (),
        spares: int | None = None,
        container: bool | ContainerOptions = False,
        concurrency: int | None = None,
    ) -> None:
        self._sandbox = Sandbox._closed_until_used(
            profile,
            timeout=timeout,
            memory=memory,
            cpu=cpu,
            output=output,
            isolation=isolation,
            language=language,
            allowed_imports=allowed_imports,
            allow_domains=allow_domains,
            allow_private=allow_private,
            spares=spares,
            container=container,
        )
        self._spares = spares
        most = _options.count("concurrency", concurrency, 1)
        self._most = most or min(32, processors() + 4)
        self._threads = Threads(self._most)
        self._running: set[_Calls] = set()

    # --- opening and closing ----------------------------------------------------------------------

    async def wait_until_ready(self, timeout: Seconds | None = None) -> None:
        """Like `Sandbox.wait_until_ready`."""
        await self._in_thread(lambda: self._sandbox.wait_until_ready(timeout))

    async def close(self) -> None:
        """Kills all runs, closes the sessions and stops the workers. Calling it again does
        nothing."""
        for calls in self._running:
            # First, or the program could end because of the answer.
            calls.stop()
            calls.end_answers(BelljarError("run in a sandbox", "run in a sandbox: it is closed"))

        def close() -> None:
            self._sandbox.close()
            self._threads.close()

        await self._in_own_thread(close)

    async def __aenter__(self) -> Self:
        # Raises errors in the options here rather than in the first run.
        await self._in_thread(self._sandbox._open)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def __reduce__(self) -> tuple[Callable[..., AsyncSandbox], tuple[Any, ...]]:
        return _remade, (type(self), self._sandbox, self._spares, self._most)

    def __repr__(self) -> str:
        return repr(self._sandbox).replace("belljar.Sandbox", "belljar.AsyncSandbox")

    # --- running ----------------------------------------------------------------------------------

    async def run(
        self,
        code: str | bytes,
        *,
        timeout: Seconds | None = None,
        memory: Size | None = None,
        cpu: Seconds | None = None,
        output: Size | None = None,
        stdin: str | bytes | None = None,
        args: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
        filename: str = "main.py",
        inputs: Mapping[str, object] | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        files: Mapping[str, FileContent] | None = None,
        allowed_imports: Iterable[str] | None = None,
        allowed_domains: Iterable[str] | None = None,
        stream: Stream | None = None,
        raise_on_error: bool = False,
    ) -> Result:
        """Like `Sandbox.run`. Cancelling the task kills the program at once.

        `stream` and `functions` are called in the event loop's thread; functions may be coroutine
        functions.
        """
        if stream is not None:
            _options.stream(stream)
        calls = _Calls(asyncio.get_running_loop(), stream)
        run_request = self._sandbox._program(
            code,
            timeout=timeout,
            memory=memory,
            cpu=cpu,
            output=output,
            stdin=stdin,
            args=args,
            env=env,
            filename=filename,
            inputs=inputs,
            functions=None
            if functions is None
            else {
                name: calls.from_thread(each)
                for name, each in _functions.checked(functions).items()
            },
            files=files,
            allowed_imports=allowed_imports,
            allowed_domains=allowed_domains,
            stream=None if stream is None else calls.show,
        )
        return await self._run(run_request, calls, raise_on_error=raise_on_error)

    async def _run(self, run_request: RunRequest, calls: _Calls, *, raise_on_error: bool) -> Result:
        def run() -> Result:
            return self._sandbox._run(run_request, calls.cancellation, raise_on_error=False)

        result = await self._with_calls(calls, run)
        if raise_on_error:
            result.raise_for_status()
        return result

    async def _with_calls(self, calls: _Calls, run: Callable[[], Result]) -> Result:
        """A run in another thread, which calls into this one's."""
        self._running.add(calls)
        try:
            result = await self._in_thread(run)
        except BaseException:
            calls.cancellation.cancel()
            calls.end_answers(asyncio.CancelledError())
            raise
        finally:
            self._running.discard(calls)
        calls.raise_failure()
        return result

    def session(
        self,
        *,
        timeout: Seconds | None = None,
        memory: Size | None = None,
        cpu: Seconds | None = None,
        output: Size | None = None,
        checkpoints: int = 16,
        total_memory: Size | None = None,
        wait: Seconds = 60,
    ) -> AsyncSession:
        """Like `Sandbox.session`; it opens by `async with`, by `await`, or on first use.

        >>> import asyncio
        >>> async def main():
        ...     async with AsyncSandbox() as box, box.session() as session:
        ...         await session.run("x = 40")
        ...         return (await session.run("x + 2")).value
        >>> asyncio.run(main())
        42
        """
        from belljar._async_session import AsyncSession
        from belljar._session import Session

        sandbox = self._sandbox
        asked, turn = sandbox._session_request(
            timeout, memory, cpu, output, checkpoints, total_memory, wait
        )
        return AsyncSession(
            self, lambda: Session(sandbox, sandbox._open_session(asked), turn, WeakSet())
        )

    def run_many(
        self,
        programs: Iterable[str | bytes] | AsyncIterable[str | bytes],
        *,
        concurrency: int | None = None,
        **options: Unpack[RunOptions],
    ) -> AsyncIterator[Result]:
        """Like `Sandbox.run_many`, as an asynchronous iterator. `programs` may be one too.

        >>> import asyncio
        >>> async def main():
        ...     async with AsyncSandbox() as box:
        ...         return [result.value async for result in box.run_many(["1 + 1", "2 + 2"])]
        >>> asyncio.run(main())
        [2, 4]
        """
        most = _options.count("concurrency", concurrency, 1)
        if not isinstance(programs, AsyncIterable):
            _options.check_programs(programs)
        return self._many(programs, most or default_concurrency(self._spares), options)

    async def _many(
        self,
        programs: Iterable[str | bytes] | AsyncIterable[str | bytes],
        most: int,
        options: RunOptions,
    ) -> AsyncIterator[Result]:
        ahead: deque[asyncio.Task[Result]] = deque()
        at_a_time = asyncio.Semaphore(most)

        async def run(code: str | bytes) -> Result:
            async with at_a_time:
                return await self.run(code, **options)

        try:
            async for code in _each(programs):
                ahead.append(asyncio.create_task(run(code)))
                if len(ahead) >= 2 * most:
                    yield await ahead.popleft()
            while ahead:
                yield await ahead.popleft()
        finally:
            for task in ahead:
                task.cancel()
            await asyncio.gather(*ahead, return_exceptions=True)

    async def validate(
        self,
        code: str | bytes,
        *,
        filename: str = "main.py",
        allowed_imports: Iterable[str] | None = None,
    ) -> Validation:
        """Like `Sandbox.validate`."""
        return await self._in_thread(
            lambda: self._sandbox.validate(code, filename=filename, allowed_imports=allowed_imports)
        )

    async def info(self) -> Info:
        """Like `Sandbox.info`."""
        return await self._in_thread(self._sandbox.info)

    async def _in_thread(self, step: Callable[[], T]) -> T:
        # Within a run, whose thread waits for this one: an extra thread avoids a deadlock.
        return await _done_in(Threads(1) if _is_within_run.get() else self._threads, step)

    async def _in_own_thread(self, step: Callable[[], T]) -> T:
        """What must not wait for runs, with which all of self._threads may be busy. A cancellation
        does not prevent it."""
        return await _done_in(Threads(1), step, always=True)


async def _each(
    programs: Iterable[str | bytes] | AsyncIterable[str | bytes],
) -> AsyncIterator[str | bytes]:
    if isinstance(programs, AsyncIterable):
        async for code in programs:
            yield code
    else:
        for code in programs:
            yield code


async def _done_in(threads: Threads, step: Callable[[], T], *, always: bool = False) -> T:
    """Runs `step` in one of the threads. A cancellation does not wait for it to finish, and before
    a thread is free it prevents `step`, unless that is to be done `always`."""
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


class _Calls:
    """The calls that one run makes from its thread into the event loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stream: Stream | None) -> None:
        self.cancellation = _host.Cancellation()
        # When the sandbox is closed.
        self.stop: Callable[[], None] = self.cancellation.cancel
        self._loop = loop
        # Functions and `stream` see a copy of the caller's context: what one call sets is visible
        # to the next call, but not to the caller.
        self.context = contextvars.copy_context()
        self.context.run(_is_within_run.set, True)
        self._stream = stream
        self._failure: BaseException | None = None
        # Answers that the run's thread waits for, and the tasks that compute them.
        self._awaited: set[Future[Any]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._end: BaseException | None = None

    def show(self, name: str, text: str) -> None:
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

    def from_thread(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps `function` for a caller in another thread: it runs in the loop's thread."""

        def call(*args: Any, **kwargs: Any) -> Any:
            answer: Future[Any] = Future()
            if not _soon(self._loop, self.context, self._begin, answer, function, args, kwargs):
                raise asyncio.CancelledError
            return answer.result()

        return call

    def _begin(
        self,
        answer: Future[Any],
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        if self._end is not None:
            answer.set_exception(self._end)
            return
        try:
            value = function(*args, **kwargs)
        except BaseException as error:
            answer.set_exception(error)
            return
        if not inspect.isawaitable(value):
            answer.set_result(value)
            return

        async def awaited() -> None:
            try:
                given = await value
            except BaseException as error:
                _settle(answer, None, error)
                if not isinstance(error, Exception):
                    raise
            else:
                _settle(answer, given, None)

        self._awaited.add(answer)
        task = self._loop.create_task(awaited())  # in a copy of this call's context
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        answer.add_done_callback(self._awaited.discard)

    def end_answers(self, error: BaseException) -> None:
        """Called in the loop's thread when the run ends: its thread must not wait any longer."""
        self._end = error
        for answer in list(self._awaited):
            _settle(answer, None, error)
        for task in list(self._tasks):
            task.cancel()


def _settle(answer: Future[Any], value: Any, error: BaseException | None) -> None:
    if answer.done():
        return
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(value)


def around(sandbox: Sandbox) -> AsyncSandbox:
    """An AsyncSandbox that shares the engine of `sandbox` and is closed with it."""
    return _remade(AsyncSandbox, sandbox, None, min(32, processors() + 4))


def _remade(
    kind: type[AsyncSandbox], sandbox: Sandbox, spares: int | None, most: int
) -> AsyncSandbox:
    made = kind.__new__(kind)
    made._sandbox, made._spares, made._most = sandbox, spares, most
    made._threads = Threads(most)
    made._running = set()
    return made
