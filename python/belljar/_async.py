"""`AsyncSandbox`: the sandbox for asyncio."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from typing import TYPE_CHECKING, Any, Self, Unpack

from belljar import _options, _requests
from belljar._errors import BelljarError
from belljar._info import Info
from belljar._loop import LoopCalls, LoopThreads
from belljar._options import Seconds
from belljar._requests import (
    RUN,
    SANDBOX,
    SESSION,
    Program,
    RunOptions,
    SandboxOptions,
    SessionOptions,
)
from belljar._result import Result, Validation
from belljar._sandbox import Sandbox
from belljar._threads import default_concurrency, processors

if TYPE_CHECKING:
    from belljar._async_session import AsyncSession
    from belljar._session import Session


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

    @SANDBOX
    def __init__(
        self,
        profile: str | None = None,
        *,
        concurrency: int | None = None,
        **options: Unpack[SandboxOptions],
    ) -> None:
        SANDBOX.check(options, "AsyncSandbox.__init__")
        sandbox = Sandbox._closed_until_used(profile, **options)
        self._prepare(sandbox, _options.count("concurrency", concurrency, 1))

    def _prepare(self, sandbox: Sandbox, concurrency: int | None) -> None:
        self._sandbox = sandbox
        self._concurrency = concurrency
        self._threads = LoopThreads(concurrency or min(32, processors() + 4))

    # --- opening and closing ----------------------------------------------------------------------

    async def wait_until_ready(self, timeout: Seconds | None = None) -> None:
        """Like `Sandbox.wait_until_ready`."""
        await self._threads.do(lambda: self._sandbox.wait_until_ready(timeout))

    async def close(self) -> None:
        """Kills all runs, closes the sessions and stops the workers. Calling it again does
        nothing."""
        self._threads.stop_runs(BelljarError("run in a sandbox", "run in a sandbox: it is closed"))

        def close() -> None:
            self._sandbox.close()
            self._threads.close()

        await self._threads.do_at_once(close)

    async def __aenter__(self) -> Self:
        # Raises errors in the options here rather than in the first run.
        await self._threads.do(self._sandbox._open)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __reduce__(self) -> tuple[Callable[..., AsyncSandbox], tuple[Any, ...]]:
        return _remade, (type(self), self._sandbox, self._concurrency)

    def __repr__(self) -> str:
        return repr(self._sandbox).replace("belljar.Sandbox", "belljar.AsyncSandbox")

    # --- running ----------------------------------------------------------------------------------

    @RUN
    async def run(self, code: str | bytes, **options: Unpack[RunOptions]) -> Result:
        """Like `Sandbox.run`. Cancelling the task kills the program at once.

        `stream` and `functions` are called in the event loop's thread; the coroutine functions
        among them run side by side there.
        """
        RUN.check(options, "AsyncSandbox.run")
        raise_on_error = options.pop("raise_on_error", False)
        calls = LoopCalls()
        request = self._sandbox._program(code, work=calls, **calls.routed(options))

        def run() -> Result:
            return self._sandbox._run(request, calls.cancellation, raise_on_error=False)

        result = await self._threads.run(calls, run)
        if raise_on_error:
            result.raise_for_status()
        return result

    @SESSION
    def session(self, **options: Unpack[SessionOptions]) -> AsyncSession:
        """Like `Sandbox.session`; it opens by `async with`, by `await`, or on first use.

        >>> import asyncio
        >>> async def main():
        ...     async with AsyncSandbox() as box, box.session() as session:
        ...         await session.run("x = 40")
        ...         return (await session.run("x + 2")).value
        >>> asyncio.run(main())
        42
        """
        SESSION.check(options, "AsyncSandbox.session")
        request, wait = _requests.session_request(options)
        return self._session(lambda: self._sandbox._session(request, wait))

    def _session(self, open_session: Callable[[], Session]) -> AsyncSession:
        from belljar._async_session import AsyncSession

        return AsyncSession(self._threads, open_session)

    @RUN
    def run_many(
        self,
        programs: Iterable[str | bytes | Program] | AsyncIterable[str | bytes | Program],
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
        RUN.check(options, "AsyncSandbox.run_many")
        at_a_time = _options.count("concurrency", concurrency, 1)
        if not isinstance(programs, AsyncIterable):
            _options.check_programs(programs)
        spares = self._sandbox._open_request["spares"]
        return self._many(programs, at_a_time or default_concurrency(spares), options)

    async def _many(
        self,
        programs: Iterable[str | bytes | Program] | AsyncIterable[str | bytes | Program],
        maximum: int,
        options: RunOptions,
    ) -> AsyncIterator[Result]:
        ahead: deque[asyncio.Task[Result]] = deque()
        at_a_time = asyncio.Semaphore(maximum)

        async def run(index: int, entry: str | bytes | Program) -> Result:
            try:
                if isinstance(entry, str | bytes):
                    own: dict[str, Any] = {"code": entry}
                else:
                    own = _requests.own_options(entry)
                async with at_a_time:
                    return await self.run(**{**options, **own})
            except Exception as error:
                raise _requests.of_program(index, error) from error.__cause__

        index = 0
        try:
            async for entry in _each(programs):
                ahead.append(asyncio.create_task(run(index, entry)))
                index += 1
                if len(ahead) >= 2 * maximum:
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
        return await self._threads.do(
            lambda: self._sandbox.validate(code, filename=filename, allowed_imports=allowed_imports)
        )

    async def info(self) -> Info:
        """Like `Sandbox.info`."""
        return await self._threads.do(self._sandbox.info)


async def _each(
    programs: Iterable[str | bytes | Program] | AsyncIterable[str | bytes | Program],
) -> AsyncIterator[str | bytes | Program]:
    if isinstance(programs, AsyncIterable):
        async for entry in programs:
            yield entry
    else:
        for entry in programs:
            yield entry


def around(sandbox: Sandbox) -> AsyncSandbox:
    """An AsyncSandbox that shares the engine of `sandbox` and is closed with it."""
    return _remade(AsyncSandbox, sandbox, None)


def _remade(kind: type[AsyncSandbox], sandbox: Sandbox, concurrency: int | None) -> AsyncSandbox:
    made = kind.__new__(kind)
    made._prepare(sandbox, concurrency)
    return made
