"""Leaves out what the standard library does around every fork.

Its handlers make anew the locks that another thread may have held, and reseed a generator. A worker
is cloned from a process with one thread (the zygote checks that), and randomness.py reseeds. They
write to a hundred pages of every worker for nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

_NEEDLESS = frozenset({"concurrent.futures.thread", "logging", "random", "threading"})

_register = os.register_at_fork


def _register_others(**handlers: Callable[[], Any]) -> None:
    if sys._getframe(1).f_globals.get("__name__") not in _NEEDLESS:
        _register(**handlers)


def pass_over_needless_handlers() -> None:
    """Zygote, before those modules are imported."""
    os.register_at_fork = _register_others


def restore() -> None:
    """Zygote, when all is imported: a program without the policy finds the function itself."""
    os.register_at_fork = _register
