"""traceback, for guests: exceptions as text, with only the program's own frames.

Nothing returned contains a frame: there is no TracebackException and no StackSummary.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from .objects import is_a
from .program import running

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
