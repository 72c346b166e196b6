"""Run untrusted Python code in a sandbox and get its result.

    >>> from belljar import Sandbox
    >>> with Sandbox() as box:
    ...     result = box.run("print('hello')\\n6 * 7")
    >>> result.value, result.stdout
    (42, 'hello\\n')

`Sandbox` runs programs, and opens sessions, whose variables stay from cell to cell; `AsyncSandbox`
does the same for asyncio. Both return a `Result`, even for a program that fails. `BelljarError`
means that Belljar or this machine failed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from belljar._async import AsyncSandbox
    from belljar._async_commands import AsyncCommand
    from belljar._async_session import AsyncSession
    from belljar._changes import Change, Changes, ChangesNotApplied
    from belljar._commands import Command, CommandFailed, CommandResult, CommandStatus, Output
    from belljar._errors import BelljarError, SessionBusy, SessionClosed
    from belljar._host import VERSION as __version__
    from belljar._info import Info
    from belljar._options import ContainerOptions
    from belljar._packages import InstalledPackage
    from belljar._requests import Program
    from belljar._result import (
        Analysis,
        Artifact,
        Container,
        ErrorReport,
        Finding,
        GuestFailed,
        Isolation,
        Layer,
        Limits,
        NetworkEvent,
        Result,
        SecurityEvent,
        SessionReport,
        Usage,
        Validation,
    )
    from belljar._sandbox import Sandbox
    from belljar._session import Session
    from belljar._session_data import (
        Checkpoint,
        Completion,
        Difference,
        FileChanges,
        SessionInfo,
        Variable,
        VariableChange,
    )

__all__ = [
    "Analysis",
    "Artifact",
    "AsyncCommand",
    "AsyncSandbox",
    "AsyncSession",
    "BelljarError",
    "Change",
    "Changes",
    "ChangesNotApplied",
    "Checkpoint",
    "Command",
    "CommandFailed",
    "CommandResult",
    "CommandStatus",
    "Completion",
    "Container",
    "ContainerOptions",
    "Difference",
    "ErrorReport",
    "FileChanges",
    "Finding",
    "GuestFailed",
    "Info",
    "InstalledPackage",
    "Isolation",
    "Layer",
    "Limits",
    "NetworkEvent",
    "Output",
    "Program",
    "Result",
    "Sandbox",
    "SecurityEvent",
    "Session",
    "SessionBusy",
    "SessionClosed",
    "SessionInfo",
    "SessionReport",
    "Usage",
    "Validation",
    "Variable",
    "VariableChange",
    "__version__",
]


# Imported on first use: pytest loads belljar.pytest_plugin in every session, the engine takes
# milliseconds to link, and asyncio takes longer to import than everything else together.
_MODULES = {
    "_async": ("AsyncSandbox",),
    "_async_commands": ("AsyncCommand",),
    "_async_session": ("AsyncSession",),
    "_changes": ("Change", "Changes", "ChangesNotApplied"),
    "_commands": ("Command", "CommandFailed", "CommandResult", "CommandStatus", "Output"),
    "_errors": ("BelljarError", "SessionBusy", "SessionClosed"),
    "_info": ("Info",),
    "_options": ("ContainerOptions",),
    "_packages": ("InstalledPackage",),
    "_result": (
        "Analysis",
        "Artifact",
        "Container",
        "ErrorReport",
        "Finding",
        "GuestFailed",
        "Isolation",
        "Layer",
        "Limits",
        "NetworkEvent",
        "Result",
        "SecurityEvent",
        "SessionReport",
        "Usage",
        "Validation",
    ),
    "_requests": ("Program",),
    "_sandbox": ("Sandbox",),
    "_session": ("Session",),
    "_session_data": (
        "Checkpoint",
        "Completion",
        "Difference",
        "FileChanges",
        "SessionInfo",
        "Variable",
        "VariableChange",
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value = import_module("belljar._host").VERSION
    elif name in _HOMES:
        value = getattr(import_module(f"belljar.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
