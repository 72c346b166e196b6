"""fileinput, for guests: the lines of standard input, or of files that open() gives the program."""

from __future__ import annotations

import sys as _sys
from typing import Any

from . import sys
from .objects import its_own_only
from .program import running


@its_own_only
class FileInput:
    """fileinput.FileInput."""

    __slots__ = ("__weakref__", "_file", "_files", "_first", "_mode", "_name", "_number", "_total")

    def __init__(
        self, files: Any = None, inplace: Any = False, backup: Any = "", *, mode: Any = "r",
        openhook: Any = None, encoding: Any = None, errors: Any = None,
    ) -> None:  # fmt: skip
        if inplace:
            raise PermissionError("[BJ502] inplace=True is not available; write another file")
        if files is None:
            files = sys.argv()[1:]
        self._files = [files] if type(files) is str else list(files)
        self._files = self._files or ["-"]
        self._mode = (mode, encoding, errors)
        self._file: Any = None
        self._name: Any = None
        self._number = self._total = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def readline(self) -> Any:
        """The next line of all files, or an empty one."""
        while True:
            if self._file is None:
                if not self._files:
                    return ""
                self._open(self._files.pop(0))
            line = self._file.readline()
            if line:
                self._number += 1
                self._total += 1
                return line
            self.nextfile()

    def _open(self, name: Any) -> None:
        self._number = 0
        if name == "-":
            self._name, self._file = "<stdin>", _sys.stdin
        else:
            mode, encoding, errors = self._mode
            self._name = name
            self._file = running.builtins["open"](name, mode, encoding=encoding, errors=errors)

    def nextfile(self) -> None:
        """Goes on with the next file."""
        file, self._file = self._file, None
        if file is not None and file is not _sys.stdin:
            file.close()

    def close(self) -> None:
        """Reads no more."""
        self.nextfile()
        self._files = []

    def filename(self) -> Any:
        """The file of the last line."""
        return self._name

    def lineno(self) -> int:
        """The number of the last line, of all lines."""
        return self._total

    def filelineno(self) -> int:
        """The number of the last line in its file."""
        return self._number

    def isfirstline(self) -> bool:
        """Whether the last line was the first of its file."""
        return self._number == 1

    def isstdin(self) -> bool:
        """Whether the last line came from standard input."""
        return self._name == "<stdin>"

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_current: list[FileInput] = []


def input(*args: Any, **options: Any) -> FileInput:  # noqa: A001
    """The lines of the files, of which the functions below tell."""
    _current[:] = [FileInput(*args, **options)]
    return _current[0]


def _state() -> FileInput:
    if not _current:
        raise RuntimeError("no active input()")
    return _current[0]


def close() -> None:
    """FileInput.close() of input()."""
    if _current:
        _current.pop().close()


def nextfile() -> None:
    """FileInput.nextfile() of input()."""
    _state().nextfile()


def filename() -> Any:
    """FileInput.filename() of input()."""
    return _state().filename()


def lineno() -> int:
    """FileInput.lineno() of input()."""
    return _state().lineno()


def filelineno() -> int:
    """FileInput.filelineno() of input()."""
    return _state().filelineno()


def isfirstline() -> bool:
    """FileInput.isfirstline() of input()."""
    return _state().isfirstline()


def isstdin() -> bool:
    """FileInput.isstdin() of input()."""
    return _state().isstdin()
