"""contextlib, for guests: the originals set a sys attribute named by a class attribute."""

from __future__ import annotations

from typing import Any

from . import os, streams
from .objects import its_own_only


class _RedirectStdout:
    """contextlib.redirect_stdout, without the stream's name in a class attribute."""

    __slots__ = ("_new", "_old")

    def __init__(self, new_target: Any) -> None:
        self._new = new_target
        self._old: list[Any] = []

    def __enter__(self) -> Any:
        if type(self) is not _RedirectStdout:  # called as _RedirectStdout.__enter__(something else)
            raise TypeError("not a redirection")
        self._old.append(streams.replace("stdout", self._new))
        return self._new

    def __exit__(self, *_: object) -> None:
        streams.put_back("stdout", self._old.pop())


class _RedirectStderr:
    """The same for stderr. Two classes: a guest can call a common class with any arguments."""

    __slots__ = ("_new", "_old")

    def __init__(self, new_target: Any) -> None:
        self._new = new_target
        self._old: list[Any] = []

    def __enter__(self) -> Any:
        if type(self) is not _RedirectStderr:  # called as _RedirectStderr.__enter__(something else)
            raise TypeError("not a redirection")
        self._old.append(streams.replace("stderr", self._new))
        return self._new

    def __exit__(self, *_: object) -> None:
        streams.put_back("stderr", self._old.pop())


redirect_stdout = _RedirectStdout
redirect_stderr = _RedirectStderr


@its_own_only
class chdir:  # noqa: N801 (the library's name)
    """contextlib.chdir, for programs with files."""

    __slots__ = ("_old", "path")

    def __init__(self, path: Any) -> None:
        self.path = path
        self._old: list[str] = []

    def __enter__(self) -> None:
        self._old.append(os.getcwd())
        os.chdir(self.path)

    def __exit__(self, *_: object) -> None:
        os.chdir(self._old.pop())
