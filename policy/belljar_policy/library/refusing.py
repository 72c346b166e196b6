"""What modules for tests are made of: functions and classes that refuse when they are called.

A program that imports unittest.mock may import such a module (ModuleTable.admit_for_tests): its
tests patch smtplib.SMTP, and then nothing would be connected. The files are called refusing_*.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

NETWORK = (
    "needs the network, which this profile does not have: patch it in a test, or run the program "
    "with the profile 'network'"
)

CONTEXT = "__enter__ __exit__"


def function(name: str, why: str = NETWORK) -> Callable[..., NoReturn]:
    """Of the full name `module.name` or `module.Class.name`."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise PermissionError(f"[BJ502] {name}() {why}")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    return refuse


def kind(name: str, methods: str) -> Any:
    """A class whose call refuses. `methods`: what a mock with it as its specification has."""
    refuse = function(name)

    class Refusing:
        __slots__ = ()

        def __new__(cls, *_: Any, **__: Any) -> NoReturn:
            refuse()

    Refusing.__name__ = Refusing.__qualname__ = name.rpartition(".")[2]
    Refusing.__doc__ = None
    for each in methods.split():
        setattr(Refusing, each, function(f"{name}.{each}"))
    return Refusing
