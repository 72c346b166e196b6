"""Has the standard library copy without sendfile, which the seal denies (profiles/seccomp.toml).

shutil and socket fall back to reading and writing where the call fails. But each failure would
stand in the result as a denied system call, and an ordinary copy is nothing to warn of. Where the
function does not exist they never call it; they look for it as they are imported.
"""

from __future__ import annotations

import os
import sys

_sendfile = os.sendfile


def hide() -> None:
    """Zygote, before those modules are imported. One that is (a test's process) has found it."""
    if not {"shutil", "socket"} & sys.modules.keys():
        del os.sendfile


def restore() -> None:
    """Zygote, when all is imported: a program in the full language finds the function itself."""
    os.sendfile = _sendfile
