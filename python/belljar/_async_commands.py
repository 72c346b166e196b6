"""`AsyncCommand`: `Command` for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import NoReturn, TypeVar

from belljar import _commands, _options
from belljar._commands import Command, CommandResult, CommandStatus, Output, Stream
from belljar._loop import LoopThreads
from belljar._options import Seconds, Size

T = TypeVar("T")

_SLICE = 1.0  # seconds: how long a thread waits on after a task has been cancelled


class AsyncCommand:
    """`Command` for asyncio, made by `AsyncSession.spawn`."""

    # Not for users: AsyncSession.spawn makes one.
    def __init__(self, threads: LoopThreads, command: Command) -> None:
        self._threads = threads
        self._command = command

    @property
    def id(self) -> int:
        """Like `Command.id`."""
        return self._command.id

    @property
    def arguments(self) -> tuple[str, ...]:
        """Like `Command.arguments`."""
        return self._command.arguments

    @property
    def status(self) -> CommandStatus:
        """Like `Command.status`."""
        return self._command.status

    async def _within(self, timeout: Seconds | None, step: Callable[[float], T]) -> T:
        """`step` in another thread, until it no longer raises TimeoutError."""
        loop = asyncio.get_running_loop()
        end = None
        if timeout is not None:
            end = loop.time() + (_options.seconds("timeout", timeout) / 1000 if timeout else 0)
        while True:
            left = _SLICE if end is None else min(_SLICE, max(0.0, end - loop.time()))
            try:
                return await self._threads.do_at_once(partial(step, left and max(left, 0.001)))
            except TimeoutError:
                if end is not None and loop.time() >= end:
                    raise

    async def wait(self, timeout: Seconds | None = None) -> CommandStatus:
        """Like `Command.wait`."""
        return await self._within(timeout, self._command.wait)

    async def read(
        self,
        begin: int = 0,
        *,
        stream: Stream = "stdout",
        most: Size = _commands.PIECE,
        timeout: Seconds | None = None,
    ) -> Output:
        """Like `Command.read`."""
        return await self._within(
            timeout,
            lambda left: self._command.read(begin, stream=stream, most=most, timeout=left),
        )

    async def lines(self, *, stream: Stream = "stdout") -> AsyncIterator[str]:
        """Like `Command.lines`."""
        lines = _commands.Lines()
        while not lines.last:
            for line in lines.take(await self.read(lines.end, stream=stream)):
                yield line

    async def write(self, content: str | bytes, timeout: Seconds | None = None) -> None:
        """Like `Command.write`."""
        await self._threads.do_at_once(partial(self._command.write, content, timeout))

    def close_input(self) -> None:
        """Like `Command.close_input`."""
        self._command.close_input()

    def signal(self, number: int) -> bool:
        """Like `Command.signal`."""
        return self._command.signal(number)

    def resize(self, columns: int, rows: int) -> None:
        """Like `Command.resize`."""
        self._command.resize(columns, rows)

    def kill(self) -> None:
        """Like `Command.kill`."""
        self._command.kill()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a command cannot be copied or pickled")

    def __repr__(self) -> str:
        return repr(self._command).replace("belljar.Command", "belljar.AsyncCommand")


async def result_of(
    command: AsyncCommand, show: Callable[[str, str], object] | None, most: int
) -> CommandResult:
    """Waits for its end. An exception here, such as a cancellation, kills it."""
    try:
        if show is None:
            await command.wait()
            return _commands.read_after_end(command._command)
        out, err = _commands.Kept(show, "stdout", most), _commands.Kept(show, "stderr", most)
        await asyncio.gather(*(_follow(command, each) for each in (out, err)))
        return _commands.result_from(command._command, await command.wait(), out, err)
    except BaseException:
        command.kill()
        raise


async def _follow(command: AsyncCommand, kept: _commands.Kept) -> None:
    while not kept.take(await command.read(kept.end, stream=kept.stream)):
        pass
