"""tempfile, for guests with files: the library's version uses descriptors."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

from . import descriptors
from .objects import its_own_only


@its_own_only
class _TemporaryFileWrapper:
    """A file and its name; closing it removes it from the directory."""

    __slots__ = ("_is_there", "delete", "file", "name")

    def __init__(self, file: Any, name: str, delete: bool) -> None:
        self.file = file
        self.name = name
        self.delete = delete
        self._is_there = bool(delete)

    def __getattr__(self, name: str) -> Any:
        # Private names are not accessible.
        if name[0] == "_" or name == "file":
            raise AttributeError(name)
        return getattr(self.file, name)

    def close(self) -> None:
        """Closes the file, and removes it."""
        self.file.close()
        if self._is_there:
            self._is_there = False
            os.unlink(self.name)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator:
        yield from self.file


@its_own_only
class TemporaryDirectory:
    """A directory that is removed with its contents; the library's version uses a finalizer."""

    __slots__ = ("_ignores_errors", "_is_kept", "name")

    def __init__(
        self,
        suffix: Any = None,
        prefix: Any = None,
        dir: Any = None,
        ignore_cleanup_errors: Any = False,
        *,
        delete: Any = True,
    ) -> None:
        self._ignores_errors = bool(ignore_cleanup_errors)
        self._is_kept = not delete
        self.name = tempfile.mkdtemp(suffix, prefix, dir)

    def cleanup(self) -> None:
        """Removes the directory now."""
        if os.path.exists(self.name):
            shutil.rmtree(self.name, self._ignores_errors)

    def __enter__(self) -> Any:
        return self.name

    def __exit__(self, *_: Any) -> None:
        if not self._is_kept:
            self.cleanup()

    def __repr__(self) -> str:
        return f"<TemporaryDirectory {self.name!r}>"


def _create(suffix: Any, prefix: Any, dir: Any) -> str:
    """Creates an empty file with a unique name."""
    path = tempfile.mktemp(
        "" if suffix is None else suffix, "tmp" if prefix is None else prefix, dir
    )
    path = os.fspath(path)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    return path


def mkstemp(suffix: Any = None, prefix: Any = None, dir: Any = None, text: Any = False) -> Any:
    """A number for the file, which os.close() and os.fdopen() take, and its path."""
    path = _create(suffix, prefix, dir)
    return descriptors.open_path(path), os.path.abspath(path)


def NamedTemporaryFile(  # noqa: N802
    mode: Any = "w+b",
    buffering: Any = -1,
    encoding: Any = None,
    newline: Any = None,
    suffix: Any = None,
    prefix: Any = None,
    dir: Any = None,
    delete: Any = True,
    *,
    errors: Any = None,
    delete_on_close: Any = True,
) -> Any:
    path = _create(suffix, prefix, dir)
    file = open(path, mode, buffering, encoding, errors, newline)
    return _TemporaryFileWrapper(file, path, delete)


def TemporaryFile(  # noqa: N802
    mode: Any = "w+b",
    buffering: Any = -1,
    encoding: Any = None,
    newline: Any = None,
    suffix: Any = None,
    prefix: Any = None,
    dir: Any = None,
    *,
    errors: Any = None,
) -> Any:
    path = _create(suffix, prefix, dir)
    file = open(path, mode, buffering, encoding, errors, newline)
    os.unlink(path)
    return file


def SpooledTemporaryFile(  # noqa: N802
    max_size: Any = 0, mode: Any = "w+b", buffering: Any = -1, encoding: Any = None,
    newline: Any = None, *more: Any, **options: Any
) -> Any:  # fmt: skip
    """A file in memory, however large it gets: its bytes count towards the run's memory."""
    return (
        io.BytesIO() if "b" in mode else io.StringIO(newline="\n" if newline is None else newline)
    )
