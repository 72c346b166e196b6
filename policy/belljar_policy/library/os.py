"""os, for guests: the standard streams by number and, for guests with files, functions of paths.
None of processes or terminals.

Every function of paths reads its path argument once, as an exact str or bytes, because a number
would be a descriptor. Every function of numbers takes 0, 1 and 2 for the program's streams, which
streams.py has, and those of descriptors.py; it passes no number on to the operating system.
"""

from __future__ import annotations

import os as _os
from collections.abc import Iterator
from os import (  # noqa: F401 (exports)
    F_OK,
    R_OK,
    SEEK_CUR,
    SEEK_END,
    SEEK_SET,
    W_OK,
    X_OK,
    DirEntry,
    PathLike,
    altsep,
    curdir,
    defpath,
    devnull,
    error,
    extsep,
    linesep,
    pardir,
    pathsep,
    sep,
    stat_result,
    terminal_size,
)
from typing import Any

from . import descriptors, streams
from .objects import is_a

name = _os.name

# The program may change it: nothing else reads it, and every worker has its own.
environ = {key: _os.environ[key] for key in ("HOME", "TMPDIR") if key in _os.environ}


def _path(value: Any) -> Any:
    """`value` as an exact str or bytes. TypeError if it is not a path."""
    path = _os.fspath(value)
    if type(path) is str or type(path) is bytes:
        return path
    return str.__str__(path) if is_a(path, str) else bytes.__getitem__(path, slice(None))


def read(fd: Any, length: Any, /) -> bytes:
    """At most `length` bytes of standard input, or of a file that has a number."""
    if type(length) is not int or length < 0:
        raise ValueError("the length must be a non-negative int")
    return _under(fd, "readable").read(length)


def write(fd: Any, data: Any, /) -> int:
    """Writes bytes to standard output or error output, or to a file that has a number."""
    return _under(fd, "writable").write(data)


def _under(fd: Any, purpose: str) -> Any:
    """The file or standard stream with the number `fd`, if its method `purpose` says True."""
    if descriptors.has(fd):
        return descriptors.file_of(fd)
    stream = streams.of_number(fd)
    if not getattr(stream, purpose)():
        raise OSError(9, "Bad file descriptor")
    return stream


def _exit(status: Any) -> None:
    """Ends the program. What it has written is kept, and the host still gets its report."""
    raise SystemExit(status)


def fstat(fd: Any) -> Any:
    return streams.status_of_number(fd)


def isatty(fd: Any, /) -> bool:
    return False


def get_terminal_size(fd: Any = 1, /) -> Any:
    """There is no terminal; shutil.get_terminal_size() then assumes 80 columns."""
    raise OSError(25, "Inappropriate ioctl for device")


def close(fd: Any) -> None:
    """Closes what tempfile.mkstemp() opened. The standard streams stay open."""
    if descriptors.has(fd):
        descriptors.close(fd)
    else:
        streams.of_number(fd)


def fdopen(
    fd: Any,
    mode: Any = "r",
    buffering: Any = -1,
    encoding: Any = None,
    errors: Any = None,
    newline: Any = None,
) -> Any:
    return streams.open_number(fd, mode, buffering, encoding, errors, newline)


def fspath(path: Any) -> Any:
    return _os.fspath(path)


def fsencode(filename: Any) -> bytes:
    return _os.fsencode(_path(filename))


def fsdecode(filename: Any) -> str:
    return _os.fsdecode(_path(filename))


def cpu_count() -> int | None:
    return _os.cpu_count()


def getpid() -> int:
    return _os.getpid()


def strerror(code: Any) -> str:
    return _os.strerror(code)


def urandom(size: Any) -> bytes:
    return _os.urandom(size)


def getenv(key: Any, default: Any = None) -> Any:
    return environ.get(key, default)


def getcwd() -> str:
    return _os.getcwd()


def chdir(path: Any) -> None:
    _os.chdir(_path(path))


def listdir(path: Any = ".") -> list:
    return _os.listdir("." if path is None else _path(path))


def scandir(path: Any = ".") -> Any:
    return _os.scandir("." if path is None else _path(path))


def walk(top: Any, topdown: Any = True, onerror: Any = None, followlinks: Any = False) -> Iterator:
    return _os.walk(_path(top), topdown, onerror, followlinks)


def mkdir(path: Any, mode: Any = 0o777) -> None:
    _os.mkdir(_path(path), mode)


def makedirs(name: Any, mode: Any = 0o777, exist_ok: Any = False) -> None:
    _os.makedirs(_path(name), mode, exist_ok)


def rmdir(path: Any) -> None:
    _os.rmdir(_path(path))


def removedirs(name: Any) -> None:
    _os.removedirs(_path(name))


def remove(path: Any) -> None:
    _os.remove(_path(path))


def unlink(path: Any) -> None:
    _os.unlink(_path(path))


def rename(src: Any, dst: Any) -> None:
    _os.rename(_path(src), _path(dst))


def renames(old: Any, new: Any) -> None:
    _os.renames(_path(old), _path(new))


def replace(src: Any, dst: Any) -> None:
    _os.replace(_path(src), _path(dst))


def link(src: Any, dst: Any) -> None:
    _os.link(_path(src), _path(dst))


def symlink(src: Any, dst: Any, target_is_directory: Any = False) -> None:
    _os.symlink(_path(src), _path(dst))


def readlink(path: Any) -> Any:
    return _os.readlink(_path(path))


def stat(path: Any, *, follow_symlinks: Any = True) -> Any:
    return _os.stat(_path(path), follow_symlinks=follow_symlinks)


def lstat(path: Any) -> Any:
    return _os.lstat(_path(path))


def access(path: Any, mode: Any) -> bool:
    return _os.access(_path(path), mode)


def chmod(path: Any, mode: Any) -> None:
    _os.chmod(_path(path), mode)


def utime(path: Any, times: Any = None, *, ns: Any = None) -> None:
    if ns is None:
        _os.utime(_path(path), times)
    else:
        _os.utime(_path(path), times, ns=ns)


def truncate(path: Any, length: Any) -> None:
    _os.truncate(_path(path), length)


def fsync(fd: Any) -> None:
    """Does nothing: files do not outlive the run."""
