"""What Python's modules do about system calls that the seal denies (profiles/seccomp.toml).

The standard library copies without sendfile and without FICLONE. shutil and socket fall back to
reading and writing where sendfile fails, but each failure would stand in the result as a denied
system call, and an ordinary copy is nothing to warn of. pathlib, since 3.14, first has the file
system share the blocks of both files (FICLONE), and gives up where that is not permitted. Where the
function or the constant does not exist they never try; they look for it as they are imported.

Functions whose C code does not say that a call was denied raise: os.sync() would seem to have
written what it has not, and os.system() to have run a shell that did not find the command.
tests/jail/test_silent_calls.py searches for such functions; the harmless ones are permitted.
"""

from __future__ import annotations

import errno
import fcntl
import os
import posix
import sys

_sendfile = os.sendfile
_sync = os.sync
_system = os.system
_FICLONE = getattr(fcntl, "FICLONE", None)
_NO_SHELL = 127 << 8  # what C's system() returns where it cannot start one


def sync() -> None:
    """Force write of everything to disk."""
    _sync()  # so that the result lists it as denied
    raise _denied()


def system(command: str | bytes) -> int:
    """Execute the command in a subshell."""
    status = _system(command)
    if status == _NO_SHELL:
        raise _denied()
    return status


def _denied() -> PermissionError:
    return PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def hide() -> None:
    """Zygote, before those modules are imported. One that is (a test's process) has found it."""
    if not {"shutil", "socket"} & sys.modules.keys():
        del os.sendfile
    if _FICLONE is not None and "pathlib" not in sys.modules:
        del fcntl.FICLONE  # type: ignore[attr-defined]


def restore() -> None:
    """Zygote, when all is imported: a program without the policy finds the function itself."""
    os.sendfile = _sendfile
    os.sync = posix.sync = sync
    os.system = posix.system = system
    if _FICLONE is not None:
        fcntl.FICLONE = _FICLONE  # type: ignore[attr-defined]
