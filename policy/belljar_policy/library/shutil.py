"""shutil, for guests with files: the library's rmtree() passes functions of os to its callback, and
other functions accept descriptors as paths.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from . import os as ours


def rmtree(
    path: Any, ignore_errors: Any = False, onerror: Any = None, *, onexc: Any = None
) -> None:
    def shown(function: Any) -> Callable:
        """The failed function as the callback sees it: always one of our replacements."""
        return getattr(ours, getattr(function, "__name__", ""), ours.lstat)

    def failed(function: Any, name: Any, info: Any) -> None:
        error = info[1]
        if ignore_errors:
            return
        if onexc is not None:
            onexc(shown(function), name, error)
        elif onerror is not None:
            onerror(shown(function), name, (type(error), error, None))
        else:
            raise error

    shutil.rmtree(ours._path(path), False, failed)


def copymode(src: Any, dst: Any, *, follow_symlinks: Any = True) -> None:
    shutil.copymode(ours._path(src), ours._path(dst), follow_symlinks=follow_symlinks)


def copystat(src: Any, dst: Any, *, follow_symlinks: Any = True) -> None:
    shutil.copystat(ours._path(src), ours._path(dst), follow_symlinks=follow_symlinks)


def which(cmd: Any, mode: Any = 1, path: Any = None) -> None:
    """None: there are no other programs."""


def disk_usage(path: Any) -> Any:
    return shutil.disk_usage(ours._path(path))
