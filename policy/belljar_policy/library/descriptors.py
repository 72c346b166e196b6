"""Numbers for open files, as tempfile.mkstemp() returns them and os.close() takes them.

They are no descriptors of the operating system, and no function hands them to it: each stands for a
file that this module has opened by its path.
"""

from __future__ import annotations

import builtins
from typing import Any

_FIRST = 3  # after the streams
_MOST = 1024

_open: dict[int, tuple[Any, str]] = {}
"""By number, the unbuffered file and its path."""


def open_path(path: str) -> int:
    """Opens a file to read and write, and returns the lowest number that is free."""
    number = next((each for each in range(_FIRST, _MOST) if each not in _open), None)
    if number is None:
        raise OSError(24, "Too many open files")
    _open[number] = (builtins.open(path, "r+b", 0), path)
    return number


def has(number: Any) -> bool:
    """Whether the number stands for a file here."""
    return type(number) is int and number in _open


def file_of(number: int) -> Any:
    """The unbuffered file; only if has(number)."""
    return _open[number][0]


def close(number: Any) -> None:
    """os.close()."""
    if type(number) is not int:
        raise TypeError(f"'{type(number).__name__}' object cannot be interpreted as an integer")
    if number not in _open:
        raise OSError(9, "Bad file descriptor")
    _open.pop(number)[0].close()


def take(number: int, mode: str, *arguments: Any) -> Any:
    """os.fdopen() and open(): the file, which is now the caller's to close."""
    raw, path = _open[number]
    position = raw.tell()
    if position and mode[:1] == "w":  # a descriptor's file is not emptied
        mode = f"a{mode[1:]}"
    file = builtins.open(path, mode, *arguments)
    if position and mode[:1] == "r":
        file.seek(position)
    close(number)
    return file
