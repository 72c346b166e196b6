"""Run Python that nobody has reason to trust, sealed, and see what came of it.

    >>> from belljar import Sandbox
    >>> with Sandbox() as box:
    ...     result = box.run("print('hello')\\n6 * 7")
    >>> result.value, result.stdout
    (42, 'hello\\n')

`Sandbox` runs programs, `AsyncSandbox` does so for asyncio; both return a `Result`. What the
program did is a result; what Belljar or this machine failed to do is a `BelljarError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from belljar._errors import BelljarError, GuestFailed
from belljar._host import VERSION as __version__
from belljar._options import ContainerOptions
from belljar._result import (
    Analysis,
    Artifact,
    Container,
    ErrorReport,
    Finding,
    Isolation,
    Layer,
    Limits,
    NetworkEvent,
    Result,
    SecurityEvent,
    Usage,
    Validation,
)
from belljar._sandbox import Sandbox

if TYPE_CHECKING:
    from belljar._async import AsyncSandbox
    from belljar._info import Info

__all__ = [
    "Analysis",
    "Artifact",
    "AsyncSandbox",
    "BelljarError",
    "Container",
    "ContainerOptions",
    "ErrorReport",
    "Finding",
    "GuestFailed",
    "Info",
    "Isolation",
    "Layer",
    "Limits",
    "NetworkEvent",
    "Result",
    "Sandbox",
    "SecurityEvent",
    "Usage",
    "Validation",
    "__version__",
]


def __getattr__(name: str) -> Any:
    # asyncio takes longer to import than all the rest, and most programs do without.
    if name == "AsyncSandbox":
        from belljar._async import AsyncSandbox

        return AsyncSandbox
    if name == "Info":
        from belljar._info import Info

        return Info
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
