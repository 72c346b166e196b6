"""traceback, for guests: exceptions as text, with only the program's own frames.

Nothing returned contains a frame: what a program sees as a traceback or a stack is a list of lines.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any

from . import linecache
from .objects import is_a, its_own_only
from .program import places_of_callers, running

_CURRENT: Any = object()
_qualified_name_of = vars(type)["__qualname__"].__get__


def lines_of(error: BaseException, *, chain: bool = True) -> Iterator[str]:
    """Pieces of the text of `error`, each ending in a newline."""
    tracebacks = running.tracebacks
    if tracebacks is None:
        yield from final_lines(error)
    else:
        yield from tracebacks.pieces(error, running.filename, chain=chain)


def final_lines(error: BaseException) -> list[str]:
    """What comes after the frames: type, message, notes."""
    if running.tracebacks is None:
        return [f"{_qualified_name_of(type(error))}: {error}\n"]
    return running.tracebacks.final_lines(error, running.filename)


def _exception(exc: Any, value: Any) -> BaseException | None:
    """The exception given as (exc), (exc, value) or (type, value, traceback)."""
    error = exc if value is _CURRENT else value
    if error is None:
        return None
    if not is_a(error, BaseException):
        raise TypeError(f"Exception expected for value, {type(error).__name__} found")
    return error


def format_exception(
    exc: Any, /, value: Any = _CURRENT, tb: Any = _CURRENT, limit: Any = None, chain: bool = True
) -> list[str]:
    """The lines that print_exception() writes; without frames if `tb` is None. All frames are
    shown, whatever `limit` says.
    """
    error = _exception(exc, value)
    if error is not None and tb is None:
        return final_lines(error)
    return ["NoneType: None\n"] if error is None else list(lines_of(error, chain=bool(chain)))


def format_exception_only(exc: Any, /, value: Any = _CURRENT) -> list[str]:
    """The exception without its traceback: type, message, notes."""
    error = _exception(exc, value)
    return ["NoneType: None\n"] if error is None else final_lines(error)


def print_exception(
    exc: Any,
    /,
    value: Any = _CURRENT,
    tb: Any = _CURRENT,
    limit: Any = None,
    file: Any = None,
    chain: bool = True,
) -> None:
    """Writes the exception with its traceback to `file`, or stderr."""
    stream = sys.stderr if file is None else file
    for line in format_exception(exc, value, tb, limit, chain):
        stream.write(line)


def format_exc(limit: Any = None, chain: bool = True) -> str:
    """print_exc() as text."""
    return "".join(format_exception(sys.exc_info()[1], chain=chain))


def print_exc(limit: Any = None, file: Any = None, chain: bool = True) -> None:
    """Writes the current exception to `file`, or stderr."""
    print_exception(sys.exc_info()[1], file=file, chain=chain)


# --- tracebacks as lines --------------------------------------------------------------------------


@its_own_only
class FrameSummary:
    """A line of the program in a traceback."""

    __slots__ = ("filename", "line", "lineno", "name")

    def __init__(
        self, filename: Any, lineno: Any, name: Any, *, lookup_line: Any = True,
        locals: Any = None, line: Any = None,
    ) -> None:  # fmt: skip
        self.filename, self.lineno, self.name, self.line = filename, lineno, name, line

    def __iter__(self) -> Iterator[Any]:
        return iter((self.filename, self.lineno, self.name, self.line))

    def __getitem__(self, index: Any) -> Any:
        return (self.filename, self.lineno, self.name, self.line)[index]

    def __len__(self) -> int:
        return 4

    def __eq__(self, other: Any) -> Any:
        return tuple(self) == (tuple(other) if type(other) is FrameSummary else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<FrameSummary file {self.filename}, line {self.lineno} in {self.name}>"


@its_own_only
class Traceback:
    """What programs see as a traceback: its lines, from the outermost, and no frame."""

    __slots__ = ("_lines", "_texts")

    def __init__(self, lines: list[tuple[str, int, str, str]], texts: list[str]) -> None:
        self._lines, self._texts = lines, texts

    @property
    def tb_lineno(self) -> int:
        """The line of the outermost call."""
        return self._lines[0][1]

    @property
    def tb_next(self) -> Any:
        """The traceback of the next call, or None."""
        return Traceback(self._lines[1:], self._texts[1:]) if len(self._lines) > 1 else None

    def __repr__(self) -> str:
        return "<traceback object>"


def traceback_of(error: BaseException) -> Any:
    """What a program sees as `error.__traceback__`."""
    if running.tracebacks is None:
        return None
    found = running.tracebacks.lines_of(error, running.filename)
    return Traceback([each[:4] for each in found], [each[4] for each in found]) if found else None


def _parts(tb: Any, limit: Any) -> slice:
    if type(tb) is not Traceback:
        raise TypeError(f"a traceback is needed, not {type(tb).__name__!r}")
    if limit is None:
        return slice(None)
    return slice(limit) if limit >= 0 else slice(limit, None)


@its_own_only
class StackSummary(list):
    """Lines of a traceback or a stack, from the outermost."""

    __slots__ = ()

    def format(self) -> list[str]:
        """The lines as text."""
        return format_list(self)


def extract_tb(tb: Any, limit: Any = None) -> StackSummary:
    """The lines of a traceback."""
    if tb is None:
        return StackSummary()
    part = _parts(tb, limit)
    return StackSummary(
        FrameSummary(filename, line, name, line=text)
        for filename, line, name, text in tb._lines[part]
    )


_MAX_STACK = 1000  # calls that are shown, the innermost


def stack_lines() -> list[tuple[str, int, str, str]]:
    """File, line, function and source of the program's calls now, the innermost first. A text that
    was compiled while it ran has no source here, whatever file it says it is from.
    """
    return [
        (file, line, name, linecache.getline(file, line))
        for file, line, name in itertools.islice(places_of_callers(), _MAX_STACK)
    ]


def extract_stack(f: Any = None, limit: Any = None) -> StackSummary:
    """The lines of the program that are running now, from the outermost."""
    if f is not None:
        raise TypeError("[BJ502] extract_stack() takes no frame")
    lines = stack_lines()[::-1]
    if type(limit) is int:
        lines = lines[-limit:] if limit > 0 else lines[:-limit]
    return StackSummary(
        FrameSummary(filename, line, name, line=text.strip())
        for filename, line, name, text in lines
    )


def format_stack(f: Any = None, limit: Any = None) -> list[str]:
    """extract_stack() as text."""
    return format_list(extract_stack(f, limit))


def print_stack(f: Any = None, limit: Any = None, file: Any = None) -> None:
    """Writes extract_stack() to `file`, or stderr."""
    print_list(extract_stack(f, limit), file)


@its_own_only
class TracebackException:
    """The text of an exception, as it was when this was created."""

    __slots__ = ("_final", "_message", "_own", "_text", "exc_type", "stack")

    def __init__(
        self, exc_type: Any, exc_value: Any, exc_traceback: Any = None, **_options: Any
    ) -> None:
        error = _exception(exc_value, _CURRENT)
        if error is None:
            raise TypeError("an exception is needed")
        self.exc_type = type(error)
        self.stack = extract_tb(traceback_of(error))
        self._final = final_lines(error)
        self._own, self._text = list(lines_of(error, chain=False)), list(lines_of(error))
        self._message = str(error)

    @classmethod
    def from_exception(cls, exc: Any, **_options: Any) -> TracebackException:
        """Of an exception and those before it."""
        return TracebackException(type(exc), exc)

    def format(self, *, chain: Any = True) -> Iterator[str]:
        """The lines that print_exception() writes."""
        return iter(self._text if chain else self._own)

    def format_exception_only(self) -> Iterator[str]:
        """The exception without its traceback."""
        return iter(self._final)

    def print(self, *, file: Any = None, chain: Any = True) -> None:
        """Writes the lines to `file`, or stderr."""
        stream = sys.stderr if file is None else file
        for line in self.format(chain=chain):
            stream.write(line)

    def __str__(self) -> str:
        return self._message


def format_tb(tb: Any, limit: Any = None) -> list[str]:
    """The lines of a traceback, as text."""
    if tb is None:
        return []
    part = _parts(tb, limit)
    return tb._texts[part]


def print_tb(tb: Any, limit: Any = None, file: Any = None) -> None:
    """Writes the lines of a traceback."""
    stream = sys.stderr if file is None else file
    for text in format_tb(tb, limit):
        stream.write(text)


def format_list(extracted_list: Any) -> list[str]:
    """Lines of extract_tb() as text."""
    texts = []
    for filename, line, name, text in extracted_list:
        shown = f"    {text.strip()}\n" if text else ""
        texts.append(f'  File "{filename}", line {line}, in {name}\n{shown}')
    return texts


def print_list(extracted_list: Any, file: Any = None) -> None:
    """Writes lines of extract_tb()."""
    stream = sys.stderr if file is None else file
    for text in format_list(extracted_list):
        stream.write(text)
