"""Builtins that are replaced in the sandbox."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from . import streams
from .objects import is_a
from .program import running


def exit(code: Any = None, /) -> None:
    """exit() and quit() of the interactive interpreter."""
    raise SystemExit(code)


def help(*request: Any) -> None:
    """Describes an object: its signature, documentation and members."""
    from .help import describe  # it needs the library's inspect

    describe(request)


def display(*objs: Any, **options: Any) -> None:
    """IPython.display.display(), as notebooks have it without an import."""
    running.load_late("IPython.display")
    from .IPython_display import display as show

    show(*objs, **options)


display.__module__, display.__annotations__ = "IPython.display", {}


def input(prompt: Any = "", /) -> str:
    """input(): reads a line of the standard input passed with the call."""
    text = str(prompt)
    if text:
        sys.stdout.write(text)
    line = "" if sys.stdin is None else sys.stdin.readline()
    if not is_a(line, str):  # of an object that the program assigned
        raise TypeError("object.readline() returned non-string")
    if not line:
        raise EOFError("input() found no more lines")
    return line[:-1] if line[-1] == "\n" else line


def make_open(original: Callable | None) -> Callable:
    """open() for guests, where 0, 1 and 2 are the standard streams. `original`: open() of the
    profile's files, or None without files."""

    def open(
        file: Any,
        mode: Any = "r",
        buffering: Any = -1,
        encoding: Any = None,
        errors: Any = None,
        newline: Any = None,
        closefd: Any = True,
        opener: Any = None,
    ) -> Any:
        """Opens a file, or a standard stream by its number."""
        number = streams.number_of(file)
        if number is not None:
            return streams.open_number(number, mode, buffering, encoding, errors, newline)
        if original is None:
            if type(file) is str and file == streams.devnull:
                return streams.open_null(mode)
            raise PermissionError(f"[BJ502] {_NO_FILES}")
        return original(file, mode, buffering, encoding, errors, newline, closefd, opener)

    return open


_NO_FILES = (
    "files are not available in this profile: open() only takes 0, 1 and 2, the standard streams; "
    "io.StringIO is a file in memory"
)
