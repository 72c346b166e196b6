"""`AsyncSession`: a session for asyncio."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from belljar import _functions, _host, _options
from belljar._errors import BelljarError, SessionBusy, SessionClosed
from belljar._options import FileContent, Seconds, Size
from belljar._result import Result
from belljar._session import Session
from belljar._session_data import Checkpoint, Completion, Difference, SessionInfo, Variable

if TYPE_CHECKING:
    from belljar._async import AsyncSandbox
    from belljar._sandbox import Stream
    from belljar._wire import RunRequest

T = TypeVar("T")

# The sessions whose cell the present task works for, as a function that the cell calls.
_cells: contextvars.ContextVar[frozenset[str]] = contextvars.ContextVar(
    "belljar_cells", default=frozenset()
)


class AsyncSession:
    """`Session` for asyncio, made by `AsyncSandbox.session`.

        >>> import asyncio
        >>> async def main():
        ...     async with AsyncSandbox("basic") as box, box.session() as session:
        ...         await session.run("x = 40")
        ...         return (await session.run("x + 2")).value
        >>> asyncio.run(main())
        42

    It opens on first use, or by `session = await box.session()`.
    """

    # Not for users: AsyncSandbox.session makes one.
    def __init__(self, box: AsyncSandbox, open_session: Callable[[], Session] | Session) -> None:
        self._box = box
        self._open_session = open_session if callable(open_session) else None
        self._session = open_session if isinstance(open_session, Session) else None
        self._opening: asyncio.Task[Session] | None = None
        self._running: set[Any] = set()
        self._is_closed = False  # before it was opened

    # --- its beginning and end --------------------------------------------------------------------

    async def _opened(self) -> Session:
        if self._session is not None:
            return self._session
        if self._is_closed:
            raise SessionClosed(
                "use a session", "use a session: it is closed: its caller closed it"
            )
        if self._opening is None:
            assert self._open_session is not None
            self._opening = asyncio.ensure_future(self._box._in_thread(self._open_session))
        opening = self._opening
        try:
            # Several may wait for it, of which one is cancelled.
            session = await asyncio.shield(opening)
        except BaseException:
            if opening.done() and self._opening is opening:
                self._opening = None
            raise
        if self._is_closed:
            session.close()
        self._session = session
        return session

    async def close(self) -> None:
        """Ends it, with the cell that runs. Calling it again does nothing."""
        self._is_closed = True
        opening = self._opening
        if self._session is None and opening is not None:
            await asyncio.wait([opening])
            if not opening.cancelled() and opening.exception() is None:
                self._session = opening.result()
        if self._session is not None:
            await self._box._in_own_thread(self._session.close)
        for calls in list(self._running):
            calls.end_answers(SessionClosed("use a session", "use a session: it is closed"))

    def __await__(self) -> Generator[Any, None, Self]:
        async def opened() -> Self:
            await self._opened()
            return self

        return opened().__await__()

    async def __aenter__(self) -> Self:
        return await self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def closed(self) -> str | None:
        """Why it is closed. None: it is open."""
        if self._session is None:
            return "its caller closed it" if self._is_closed else None
        return self._session.closed

    @property
    def id(self) -> str:
        """Like `Session.id`, once it has opened."""
        if self._session is None:
            what = "read the id of a session"
            raise BelljarError(what, f"{what}: it opens with its first use")
        return self._session.id

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session cannot be copied or pickled; branch() copies it")

    def __repr__(self) -> str:
        if self._session is None:
            return f"<belljar.AsyncSession {'closed' if self._is_closed else 'not open yet'}>"
        return repr(self._session).replace("belljar.Session", "belljar.AsyncSession")

    # --- running ----------------------------------------------------------------------------------

    async def run(
        self,
        code: str | bytes,
        *,
        timeout: Seconds | None = None,
        cpu: Seconds | None = None,
        output: Size | None = None,
        stdin: str | bytes | None = None,
        args: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
        filename: str | None = None,
        inputs: Mapping[str, object] | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        files: Mapping[str, FileContent] | None = None,
        allowed_imports: Iterable[str] | None = None,
        allowed_domains: Iterable[str] | None = None,
        stream: Stream | None = None,
        raise_on_error: bool = False,
    ) -> Result:
        """Like `Session.run`. Cancelling the task interrupts the cell and returns at once.

        `stream` and `functions` are called in the event loop's thread; functions may be coroutine
        functions.
        """
        from belljar._async import _Calls

        if stream is not None:
            _options.stream(stream)
        session = await self._usable()
        calls = _Calls(asyncio.get_running_loop(), stream)
        calls.context.run(_cells.set, _cells.get() | {session.id})
        # Not an interruption, which would be a result. It only kills the cell, and takes no time.
        calls.stop = partial(session._live.close, "its sandbox was closed")
        cell = session._cell(
            code,
            timeout=timeout,
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
        result = await self._run(session, cell, calls)
        if raise_on_error:
            result.raise_for_status()
        return result

    async def _run(self, session: Session, cell: RunRequest, calls: Any) -> Result:
        turn = _host.Turn(session._wait, False)
        self._running.add(calls)
        try:
            return await self._box._with_calls(
                calls, partial(session._run, cell, calls.cancellation, turn)
            )
        finally:
            self._running.discard(calls)

    async def _usable(self) -> Session:
        session = await self._opened()
        if session.id in _cells.get():
            what = "use a session"
            raise SessionBusy(what, f"{what}: it is busy with the cell that makes this very call")
        return session

    async def _do(self, step: Callable[[Session], T]) -> T:
        """`step` with the session, in another thread."""
        session = await self._usable()
        return await self._box._in_thread(partial(step, session))

    def interrupt(self) -> bool:
        """Like `Session.interrupt`."""
        return self._session is not None and self._session.interrupt()

    # --- states -----------------------------------------------------------------------------------

    async def checkpoint(self, label: str | None = None) -> Checkpoint:
        """Like `Session.checkpoint`."""
        return await self._do(lambda session: session.checkpoint(label))

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """Like `Session.checkpoints`. Before it has opened there are none."""
        return () if self._session is None else self._session.checkpoints

    async def rollback(self, checkpoint: Checkpoint | str) -> None:
        """Like `Session.rollback`."""
        await self._do(lambda session: session.rollback(checkpoint))

    async def undo(self, cells: int = 1) -> None:
        """Like `Session.undo`."""
        await self._do(lambda session: session.undo(cells))

    async def branch(
        self, n: int, checkpoint: Checkpoint | str | None = None, *, reseed: bool = True
    ) -> list[AsyncSession]:
        """Like `Session.branch`.

        >>> import asyncio
        >>> async def main():
        ...     async with AsyncSandbox("basic") as box, box.session() as session:
        ...         await session.run("x = 10")
        ...         branches = await session.branch(3)
        ...         results = await asyncio.gather(
        ...             *(each.run("x + i", inputs={"i": i}) for i, each in enumerate(branches)))
        ...         return [result.value for result in results]
        >>> asyncio.run(main())
        [10, 11, 12]
        """
        made = await self._do(lambda session: session.branch(n, checkpoint, reseed=reseed))
        return [AsyncSession(self._box, each) for each in made]

    async def keep(self) -> AsyncSession:
        """Like `Session.keep`."""
        session = await self._opened()
        await self._box._in_own_thread(session.keep)
        return self

    async def compare(self, other: AsyncSession | Checkpoint | str) -> Difference:
        """Like `Session.compare`."""
        if not isinstance(other, AsyncSession):
            at: Session | Checkpoint | str = other
        else:
            at = await other._usable()
        return await self._do(lambda session: session.compare(at))

    # --- what is in it ----------------------------------------------------------------------------

    @property
    def files(self) -> AsyncFiles:
        """The files of the workspace, in a profile that has one."""
        return AsyncFiles(self)

    async def variables(self) -> tuple[Variable, ...]:
        """Like `Session.variables`."""
        return await self._do(Session.variables)

    async def complete(self, code: str, cursor: int | None = None) -> tuple[Completion, ...]:
        """Like `Session.complete`."""
        return await self._do(lambda session: session.complete(code, cursor))

    async def inspect(self, code: str, cursor: int | None = None) -> str | None:
        """Like `Session.inspect`."""
        return await self._do(lambda session: session.inspect(code, cursor))

    async def info(self) -> SessionInfo:
        """Like `Session.info`."""
        session = await self._opened()
        return await self._box._in_own_thread(session.info)


class AsyncFiles:
    """The files of a session's workspace: what `Session.files` does, by methods to wait for."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def read(self, name: str) -> bytes:
        """Raises KeyError if there is no such file."""
        return await self._session._do(lambda session: session.files[name])

    async def read_text(self, name: str, encoding: str = "utf-8") -> str:
        """Raises UnicodeDecodeError for other text, and KeyError if there is no such file."""
        return (await self.read(name)).decode(encoding)

    async def write(self, name: str, content: FileContent) -> None:
        """bytes, a str (encoded as UTF-8), or the path of a local file."""
        await self.update({name: content})

    async def update(self, files: Mapping[str, FileContent]) -> None:
        """Writes several at once, as one change."""
        await self._session._do(lambda session: session.files.update(files))

    async def remove(self, name: str) -> None:
        """Raises KeyError if there is no such file."""
        await self._session._do(lambda session: session.files.__delitem__(name))

    async def sizes(self) -> dict[str, int]:
        """Each name, with the size in bytes."""
        return await self._session._do(lambda session: session.files.sizes())
