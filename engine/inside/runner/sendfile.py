"""Has the standard library copy without sendfile and without FICLONE, which the seal denies
(profiles/seccomp.toml).

shutil and socket fall back to reading and writing where sendfile fails. But each failure would
stand in the result as a denied system call, and an ordinary copy is nothing to warn of. pathlib,
since 3.14, first has the file system share the blocks of both files (FICLONE), and gives up where
that is not permitted. Where the function or the constant does not exist they never try; they look
for it as they are imported.
"""

from __future__ import annotations

import fcntl
import os
import sys

_sendfile = os.sendfile
_FICLONE = getattr(fcntl, "FICLONE", None)


def hide() -> None:
    """Zygote, before those modules are imported. One that is (a test's process) has found it."""
    if not {"shutil", "socket"} & sys.modules.keys():
        del os.sendfile
    if _FICLONE is not None and "pathlib" not in sys.modules:
        del fcntl.FICLONE  # type: ignore[attr-defined]


def restore() -> None:
    """Zygote, when all is imported: a program in the full language finds the function itself."""
    os.sendfile = _sendfile
    if _FICLONE is not None:
        fcntl.FICLONE = _FICLONE  # type: ignore[attr-defined]
