"""Where a signal may interrupt: for signal.py, and for the interrupts of cells in the runner."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any

# Modules whose code no signal interrupts, by how their names begin: it holds what a program must
# not have, such as a module that is half loaded. The import system calls what guards it.
_UNINTERRUPTED = ("belljar_policy", "belljar_runner", "_frozen_importlib", "importlib")
# Functions of ours that only wait: (module, name).
_WAITING = (("scheduler", "sleep"), ("scheduler", "until_woken"))


def may_interrupt(frame: FrameType | None, builtins: dict[str, Any]) -> bool:
    """Whether the program with these builtins could raise something itself where this frame is: in
    its own code, in code of the standard library that it called, in a sleep."""
    while frame is not None:
        if frame.f_builtins is builtins or _only_waits(frame.f_code):
            return True
        name = frame.f_globals.get("__name__")
        if type(name) is not str or name.startswith(_UNINTERRUPTED):
            return False
        frame = frame.f_back
    return False


def _only_waits(code: CodeType) -> bool:
    package = __name__.rpartition(".")[0]
    for module, name in _WAITING:
        owner = sys.modules.get(f"{package}.{module}")
        if owner is not None and vars(owner)[name].__code__ is code:
            return True
    return False
