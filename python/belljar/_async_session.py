"""`AsyncSession`: a session for asyncio."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from typing import Any, NoReturn, Self, TypeVar, Unpack

from belljar import _commands, _host, _options, _transfers
from belljar._async_commands import AsyncCommand, result_of
from belljar._changes import Changes
from belljar._commands import Command, CommandOptions, CommandResult
from belljar._errors import BelljarError, SessionBusy, SessionClosed
from belljar._loop import LoopCalls, LoopThreads
from belljar._options import FileContent, Size
from belljar._packages import InstalledPackage
from belljar._requests import CELL, CellOptions
from belljar._result import Result
from belljar._session import Session
from belljar._session_data import Checkpoint, Completion, Difference, SessionInfo, Variable

T = TypeVar("T")

# The sessions for whose cells the current task works, as a function that a cell calls does.
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
    def __init__(self, threads: LoopThreads, open_session: Callable[[], Session] | Session) -> None:
        self._threads = threads
        self._open_session = open_session if callable(open_session) else None
        self._session = open_session if isinstance(open_session, Session) else None
        self._opening: asyncio.Task[Session] | None = None
        self._running: set[LoopCalls] = set()
        self._is_closed = False  # before it was opened

    # --- opening and closing ----------------------------------------------------------------------

    async def _opened(self) -> Session:
        if self._session is not None:
            return self._session
        if self._is_closed:
            raise SessionClosed(
                "use a session", "use a session: it is closed: its caller closed it"
            )
        if self._opening is None:
            assert self._open_session is not None
            self._opening = asyncio.ensure_future(self._threads.do(self._open_session))
        opening = self._opening
        try:
            # Shielded: other tasks may wait for it when this one is cancelled.
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
        """Ends the session and a running cell. Calling it again does nothing."""
        self._is_closed = True
        opening = self._opening
        if self._session is None and opening is not None:
            await asyncio.wait([opening])
            if not opening.cancelled() and opening.exception() is None:
                self._session = opening.result()
        if self._session is not None:
            await self._threads.do_at_once(self._session.close)
        for calls in list(self._running):
            calls.end_answers(SessionClosed("use a session", "use a session: it is closed"))

    def __await__(self) -> Generator[Any, None, Self]:
        async def opened() -> Self:
            await self._opened()
            return self

        return opened().__await__()

    async def __aenter__(self) -> Self:
        return await self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def closed(self) -> str | None:
        """Why it is closed. None: it is open."""
        if self._session is None:
            return "its caller closed it" if self._is_closed else None
        return self._session.closed

    @property
    def id(self) -> str:
        """Like `Session.id`. Requires that the session has opened."""
        if self._session is None:
            what = "read the id of a session"
            raise BelljarError(what, f"{what}: it opens on first use")
        return self._session.id

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session cannot be copied or pickled; branch() copies it")

    def __repr__(self) -> str:
        if self._session is None:
            return f"<belljar.AsyncSession {'closed' if self._is_closed else 'not open yet'}>"
        return repr(self._session).replace("belljar.Session", "belljar.AsyncSession")

    # --- running ----------------------------------------------------------------------------------

    @CELL
    async def run(self, code: str | bytes, **options: Unpack[CellOptions]) -> Result:
        """Like `Session.run`. Cancelling the task interrupts the cell and returns at once.

        `stream` and `functions` are called in the event loop's thread; the coroutine functions
        among them run side by side there.
        """
        CELL.check(options, "AsyncSession.run")
        raise_on_error = options.pop("raise_on_error", False)
        calls = LoopCalls()
        routed = calls.routed(options)
        session = await self._usable()
        calls.context.run(_cells.set, _cells.get() | {session.id})
        # Not an interruption, which would return a result. This only kills the cell, immediately.
        calls.stop = partial(session._live.close, "its sandbox was closed")
        if options.get("language") is not None:  # its interpreter may have to be started
            cell = await self._threads.do(partial(session._cell, code, routed, calls))
        else:
            cell = session._cell(code, routed, calls)
        turn = _host.Turn(session._wait, False)
        self._running.add(calls)
        try:
            result = await self._threads.run(
                calls, partial(session._run, cell, calls.cancellation, turn)
            )
        finally:
            self._running.discard(calls)
        if raise_on_error:
            result.raise_for_status()
        return result

    async def _usable(self) -> Session:
        session = await self._opened()
        if session.id in _cells.get():
            what = "use a session"
            raise SessionBusy(what, f"{what}: it is busy with the cell that makes this very call")
        return session

    async def _do(self, step: Callable[[Session], T]) -> T:
        """`step` with the session, in another thread."""
        session = await self._usable()
        return await self._threads.do(partial(step, session))

    def interrupt(self) -> bool:
        """Like `Session.interrupt`."""
        return self._session is not None and self._session.interrupt()

    # --- commands ---------------------------------------------------------------------------------

    async def command(
        self,
        arguments: str | Iterable[str],
        *,
        stream: Callable[[str, str], object] | None = None,
        check: bool = False,
        **options: Unpack[CommandOptions],
    ) -> CommandResult:
        """Like `Session.command`. Cancelling the task kills the command. `stream` is called in the
        event loop's thread.

        >>> import asyncio
        >>> async def main():
        ...     async with AsyncSandbox(language="shell") as box, box.session() as session:
        ...         both = await asyncio.gather(*(session.command(f"echo {i}") for i in range(2)))
        ...         return [result.stdout for result in both]
        >>> asyncio.run(main())
        ['0\\n', '1\\n']
        """
        shows = None if stream is None else _options.stream("stream", stream)
        request = _commands.foreground_request(arguments, options, shows is not None)
        session = await self._opened()
        command = await self._started(lambda: Command(_host.start_command(session._live, request)))
        result = await result_of(command, shows, request["buffer"])
        return result.raise_for_status() if check else result

    async def spawn(
        self,
        arguments: str | Iterable[str],
        *,
        terminal: bool | tuple[int, int] = False,
        **options: Unpack[CommandOptions],
    ) -> AsyncCommand:
        """Like `Session.spawn`."""
        session = await self._opened()
        return await self._started(partial(session.spawn, arguments, terminal=terminal, **options))

    async def _started(self, start: Callable[[], Command]) -> AsyncCommand:
        """What `start` makes in another thread. A cancellation kills it, also if it comes later."""
        made: list[Command] = []
        is_cancelled = False

        def start_here() -> None:
            made.append(start())
            if is_cancelled:
                made[0].kill()

        try:
            await self._threads.do_at_once(start_here)
        except BaseException:
            is_cancelled = True
            for each in made:
                each.kill()
            raise
        return AsyncCommand(self._threads, made[0])

    @property
    def commands(self) -> tuple[AsyncCommand, ...]:
        """Like `Session.commands`. There are none before the session has opened."""
        if self._session is None:
            return ()
        return tuple(AsyncCommand(self._threads, each) for each in self._session.commands)

    async def install(
        self, *requirements: str, lock: str | os.PathLike[str] | None = None
    ) -> tuple[InstalledPackage, ...]:
        """Like `Session.install`."""
        session = await self._opened()
        return await self._threads.do(partial(session.install, *requirements, lock=lock))

    @property
    def packages(self) -> tuple[InstalledPackage, ...]:
        """Like `Session.packages`. There are none before the session has opened."""
        return () if self._session is None else self._session.packages

    async def changes(self) -> Changes:
        """Like `Session.changes`."""
        session = await self._opened()
        return await self._threads.do(session.changes)

    async def read_file(self, path: str, *, most: Size = _transfers.MOST) -> bytes:
        """Like `Session.read_file`."""
        return await self._transfer(lambda session: session.read_file(path, most=most))

    async def write_file(self, path: str, content: FileContent) -> None:
        """Like `Session.write_file`."""
        await self._transfer(lambda session: session.write_file(path, content))

    async def upload(self, source: str | os.PathLike[str], target: str) -> None:
        """Like `Session.upload`."""
        await self._transfer(lambda session: session.upload(source, target))

    async def download(
        self, source: str, target: str | os.PathLike[str], *, most: Size = _transfers.MOST
    ) -> tuple[str, ...]:
        """Like `Session.download`."""
        return await self._transfer(lambda session: session.download(source, target, most=most))

    async def _transfer(self, step: Callable[[Session], T]) -> T:
        session = await self._opened()
        return await self._threads.do_at_once(partial(step, session))

    # --- languages --------------------------------------------------------------------------------

    @property
    def languages(self) -> tuple[str, ...]:
        """Like `Session.languages`. There are none before the session has opened."""
        return () if self._session is None else self._session.languages

    async def share(
        self, name: str, value: object, *, to: str | Iterable[str] | None = None
    ) -> None:
        """Like `Session.share`."""
        await self._do(lambda session: session.share(name, value, to=to))

    async def exchange(
        self, name: str, source: str, *, to: str | Iterable[str] | None = None
    ) -> Any:
        """Like `Session.exchange`."""
        return await self._do(lambda session: session.exchange(name, source, to=to))

    # --- states -----------------------------------------------------------------------------------

    async def checkpoint(self, label: str | None = None) -> Checkpoint:
        """Like `Session.checkpoint`."""
        return await self._do(lambda session: session.checkpoint(label))

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """Like `Session.checkpoints`. There are none before the session has opened."""
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
        return [AsyncSession(self._threads, each) for each in made]

    async def keep(self) -> AsyncSession:
        """Like `Session.keep`."""
        session = await self._opened()
        await self._threads.do_at_once(session.keep)
        return self

    async def compare(self, other: AsyncSession | Checkpoint | str) -> Difference:
        """Like `Session.compare`."""
        if not isinstance(other, AsyncSession):
            at: Session | Checkpoint | str = other
        else:
            at = await other._usable()
        return await self._do(lambda session: session.compare(at))

    # --- contents ---------------------------------------------------------------------------------

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
        return await self._threads.do_at_once(session.info)


class AsyncFiles:
    """The files of a session's workspace: `Session.files` with coroutine methods."""

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
        """Writes several files at once, as one change."""
        await self._session._do(lambda session: session.files.update(files))

    async def remove(self, name: str) -> None:
        """Raises KeyError if there is no such file."""
        await self._session._do(lambda session: session.files.__delitem__(name))

    async def sizes(self) -> dict[str, int]:
        """Each name, with the size in bytes."""
        return await self._session._do(lambda session: session.files.sizes())
