"""`Command`: a program that runs in a session, and `CommandResult`, what one has left."""

from __future__ import annotations

import codecs
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, TypedDict, cast

from belljar import _host, _options, _session_data
from belljar._errors import BelljarError
from belljar._options import Seconds, Size
from belljar._threads import in_main_thread

if TYPE_CHECKING:
    from belljar._wire import CommandRequest

CommandState = Literal[
    "running", "exited", "not_started", "timeout", "cpu_limit", "memory_limit", "killed", "lost"
]
"""`not_started`: there is no such program; `lost`: the session has ended."""
Stream = Literal["stdout", "stderr"]

_KEPT = "1m"
PIECE = 1 << 18
_SHELL = ["/bin/bash", "-c"]
_TERMINAL = (80, 24)
_FOREGROUND = {"timeout": 120, "cpu": 600}


class CommandOptions(TypedDict, total=False):
    """The keyword arguments of `Session.command` and `Session.spawn`, explained there."""

    directory: str
    env: Mapping[str, str] | None
    stdin: str | bytes | None
    timeout: Seconds | None
    cpu: Seconds | None
    output: Size


@dataclass(frozen=True, slots=True)
class CommandStatus:
    """How a command is, or how it ended."""

    state: CommandState
    exit_code: int | None
    """128 + number for a signal, as shells say. None: it runs, or it did not start."""
    signal: int | None
    """The signal that ended it."""
    reason: str | None
    """A sentence: why it did not start, or was stopped."""
    started: datetime
    duration: float
    """Seconds, so far."""
    cpu: float
    """Seconds of CPU time, of all its processes that have ended."""
    max_rss_bytes: int
    background: bool
    """It has ended, but something that it started still runs."""
    kept: dict[Stream, tuple[int, int]] = field(repr=False)
    """The first and last address of the output that can still be read."""

    @property
    def ok(self) -> bool:
        """Whether it ended with exit code 0."""
        return self.state == "exited" and self.exit_code == 0


@dataclass(frozen=True, slots=True)
class CommandResult:
    """A command that has ended. Its output is untrusted: treat it so when you display it."""

    arguments: tuple[str, ...]
    stdout: str
    """The end of it, if more than `output` was written: UTF-8, with U+FFFD for other bytes."""
    stderr: str
    status: CommandStatus
    stdout_dropped: int = 0
    """How many bytes before `stdout` were dropped."""
    stderr_dropped: int = 0
    stdout_bytes: bytes = field(default=b"", repr=False)
    """What `stdout` is the text of."""
    stderr_bytes: bytes = field(default=b"", repr=False)

    @property
    def ok(self) -> bool:
        """Whether it ended with exit code 0."""
        return self.status.ok

    @property
    def exit_code(self) -> int | None:
        """As in `CommandStatus`."""
        return self.status.exit_code

    def raise_for_status(self) -> Self:
        """Returns itself.

        Raises:
            CommandFailed: It did not end with exit code 0.
        """
        if self.ok:
            return self
        raise CommandFailed(self)


class CommandFailed(Exception):
    """A command did not end with exit code 0. `result` is its `CommandResult`."""

    def __init__(self, result: CommandResult) -> None:
        super().__init__(result)
        self.result = result

    def __str__(self) -> str:
        status = self.result.status
        how = status.reason or f"exit code {status.exit_code}"
        last = self.result.stderr.strip().rpartition("\n")[2]
        name = self.result.arguments[0] if self.result.arguments else "command"
        return f"{name}: {how}" + (f": {last}" if last else "")


@dataclass(frozen=True, slots=True)
class Output:
    """A piece of a stream. Addresses are bytes since its start."""

    content: bytes
    begin: int
    """Later than was asked for: what is between has been dropped."""
    end: int
    """Where to read on."""
    last: bool
    """The command has ended, and this was all."""


class Command:
    """A program that runs in a session, made by `Session.spawn`.

        >>> with Sandbox(language="shell") as box, box.session() as session:  # doctest: +SKIP
        ...     server = session.spawn(["python3", "-m", "http.server"])
        ...     server.status.state
        'running'

    It is thread-safe. It goes on when nothing refers to it, until it ends or the session does."""

    # Not for users: Session.spawn makes one.
    def __init__(self, live: _host.LiveCommand) -> None:
        self._live = live

    @property
    def id(self) -> int:
        """Counts from 1 in its session."""
        return self._live.number

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(self._live.arguments)

    @property
    def status(self) -> CommandStatus:
        state, code, signal, why, started, wall, cpu, rss, background, out, err = (
            self._live.status()
        )
        return CommandStatus(
            cast("CommandState", state),
            code,
            signal,
            why or None,
            _session_data.moment(started),
            wall,
            cpu,
            rss,
            background,
            {"stdout": out[:2], "stderr": err[:2]},
        )

    def wait(self, timeout: Seconds | None = None) -> CommandStatus:
        """Waits until it has ended.

        Raises:
            TimeoutError: It still runs. It is not ended by that.
        """
        if not self._live.wait(_waiting(timeout)):
            raise TimeoutError(f"command {self.id} still runs")
        return self.status

    def read(
        self,
        begin: int = 0,
        *,
        stream: Stream = "stdout",
        most: Size = PIECE,
        timeout: Seconds | None = None,
    ) -> Output:
        """Reads a stream from an address on: what it has, or will have.

            >>> def follow(command):
            ...     begin = 0
            ...     while not (piece := command.read(begin)).last:
            ...         print(piece.content.decode(), end="")
            ...         begin = piece.end

        Args:
            most: Bytes at most.
            timeout: How long to wait for more. None: until there is some. 0: not at all.

        Raises:
            TimeoutError: Nothing has come in time.
        """
        _options.choice("stream", stream, ("stdout", "stderr"))
        if not 0 <= begin < 1 << 63:
            raise ValueError(f"begin is {begin}; give the address of a byte, from 0")
        piece = self._live.read(
            stream == "stderr", begin, _options.size("most", most), _waiting(timeout)
        )
        if piece is None:
            raise TimeoutError(f"command {self.id} has written nothing more to {stream}")
        return Output(*piece)

    def lines(self, *, stream: Stream = "stdout") -> Iterator[str]:
        """The lines of a stream, as they come, without their ends, until the command has ended."""
        lines = Lines()
        while not lines.last:
            yield from lines.take(self.read(lines.end, stream=stream))

    def write(self, content: str | bytes, timeout: Seconds | None = None) -> None:
        """Writes to its standard input, or types into its terminal.

        Requires that it was started with `stdin=None`.

        Raises:
            BrokenPipeError: It has closed its input, or has ended.
            BelljarError: It has not read enough in time.
        """
        data = content.encode() if isinstance(content, str) else bytes(content)
        if not self._live.write(data, _waiting(timeout)):
            raise BrokenPipeError(f"the standard input of command {self.id} is closed")

    def close_input(self) -> None:
        """Ends its standard input; in a terminal, as Ctrl-D does."""
        self._live.close_input()

    def signal(self, number: int) -> bool:
        """Sends a signal, such as signal.SIGINT, to it and the processes of its group.

        False: it has ended."""
        return self._live.signal(int(number))

    def resize(self, columns: int, rows: int) -> None:
        """Sets the size of its terminal.

        Raises:
            ValueError: It has none, or the size is not from 1 to 65535.
        """
        self._live.resize(*_terminal((columns, rows)))

    def kill(self) -> None:
        """Ends it with everything that it has started, also in the background."""
        self._live.kill()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a command cannot be copied or pickled")

    def __repr__(self) -> str:
        return f"<belljar.Command {self.id} {self.status.state}: {' '.join(self.arguments)!r}>"


def _waiting(timeout: Seconds | None) -> _host.Waiting:
    if timeout is None:
        milliseconds = None
    else:
        milliseconds = 0 if timeout == 0 else _options.seconds("timeout", timeout)
    return _host.Waiting(milliseconds, in_main_thread())


def _terminal(size: bool | tuple[int, int]) -> tuple[int, int]:
    if isinstance(size, bool):
        return _TERMINAL
    columns, rows = size
    if not (0 < columns < 1 << 16 and 0 < rows < 1 << 16):
        raise ValueError(f"a terminal of {columns} x {rows}: give 1 to 65535 columns and rows")
    return columns, rows


def request(
    arguments: str | Iterable[str],
    options: Mapping[str, Any],
    *,
    terminal: bool | tuple[int, int] = False,
    waits_for_reader: bool = False,
) -> CommandRequest:
    """Checked as far as possible without a session."""
    if isinstance(arguments, str):
        words = [*_SHELL, _options.text("arguments", arguments)]
    else:
        words = _options.texts("arguments", arguments)
    stdin = options.get("stdin")
    time = {
        name: 0 if options.get(name) is None else _options.seconds(name, options[name])
        for name in ("timeout", "cpu")
    }
    return {
        "arguments": words,
        "directory": _options.text("directory", options.get("directory", "")),
        "environment": _options.environment("env", options.get("env") or {}),
        "terminal": None if terminal is False else _terminal(terminal),
        "input": stdin.encode() if isinstance(stdin, str) else stdin,
        "timeout": time["timeout"],
        "cpu": time["cpu"],
        "buffer": _options.size("output", options.get("output", _KEPT)),
        "waits_for_reader": waits_for_reader,
    }


def foreground_request(
    arguments: str | Iterable[str], options: Mapping[str, Any], waits_for_reader: bool
) -> CommandRequest:
    """Of a command that its caller waits for."""
    given = {name: value for name, value in options.items() if value is not None}
    return request(
        arguments, {**_FOREGROUND, "stdin": "", **given}, waits_for_reader=waits_for_reader
    )


class Lines:
    """The lines of a stream, as its pieces come, without their ends."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self.end = 0
        self.last = False

    def take(self, piece: Output) -> list[str]:
        """Those that the piece completes."""
        self.end, self.last = piece.end, piece.last
        text = self._rest + self._decoder.decode(piece.content, piece.last)
        *lines, self._rest = text.split("\n")
        if piece.last and self._rest:
            lines.append(self._rest)
        return lines


class Kept:
    """A stream that is shown as it comes, and of which the end is kept."""

    def __init__(self, show: Callable[[str, str], object], stream: Stream, most: int) -> None:
        self._show = show
        self.stream: Stream = stream
        self._most = most
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.content = bytearray()
        self.dropped = 0
        self.end = 0

    def take(self, piece: Output) -> bool:
        """Whether it was the last."""
        self.end = piece.end
        if text := self._decoder.decode(piece.content, piece.last):
            self._show(text, self.stream)
        self.content += piece.content
        if (over := len(self.content) - self._most) > 0:
            del self.content[:over]
            self.dropped += over
        return piece.last


def result_of(
    command: Command, show: Callable[[str, str], object] | None, most: int
) -> CommandResult:
    """Waits for its end. An exception here, such as KeyboardInterrupt, kills it."""
    try:
        if show is None:
            return read_after_end(command)
        return _read_while_it_runs(command, show, most)
    except BaseException:
        command.kill()
        raise


def read_after_end(command: Command) -> CommandResult:
    status = command.wait()
    return _result(command, status, _kept(command, "stdout"), _kept(command, "stderr"))


def _kept(command: Command, stream: Stream) -> tuple[bytes, int]:
    """All that has been kept of a stream that has ended, and how much before it was dropped."""
    pieces = [command.read(stream=stream, most="64m")]
    while not pieces[-1].last:
        pieces.append(command.read(pieces[-1].end, stream=stream, most="64m"))
    return b"".join(each.content for each in pieces), pieces[0].begin


def _read_while_it_runs(
    command: Command, show: Callable[[str, str], object], most: int
) -> CommandResult:
    out, err = Kept(show, "stdout", most), Kept(show, "stderr", most)
    errors: list[BaseException] = []

    def follow(kept: Kept) -> None:
        while not kept.take(command.read(kept.end, stream=kept.stream)):
            pass

    def follow_errors() -> None:
        try:
            follow(err)
        except BaseException as error:
            errors.append(error)
            command.kill()

    other = threading.Thread(target=follow_errors, daemon=True)
    other.start()
    follow(out)
    other.join()
    if errors:
        raise errors[0]
    return result_from(command, command.wait(), out, err)


def result_from(command: Command, status: CommandStatus, out: Kept, err: Kept) -> CommandResult:
    pieces = [(bytes(each.content), each.dropped) for each in (out, err)]
    return _result(command, status, *pieces)


def _result(
    command: Command, status: CommandStatus, out: tuple[bytes, int], err: tuple[bytes, int]
) -> CommandResult:
    if status.state == "not_started":
        raise BelljarError("start a command", f"start a command: {status.reason}")
    return CommandResult(
        command.arguments,
        out[0].decode("utf-8", "replace"),
        err[0].decode("utf-8", "replace"),
        status,
        out[1],
        err[1],
        out[0],
        err[0],
    )
