"""sortedcontainers: constructors fill instances of their class, and no module or other class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..library.objects import is_a
from . import late


def _for_instances(owner: type, init: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: Any, /, *args: Any, **named: Any) -> None:
        if not is_a(self, owner):
            raise TypeError(f"descriptor '__init__' requires a {owner.__name__!r} object")
        init(self, *args, **named)

    __init__.__module__ = init.__module__
    __init__.__qualname__ = init.__qualname__
    __init__.__doc__ = init.__doc__
    return __init__


def _adapt(package: Any) -> None:
    for each in (
        package.SortedDict,
        package.SortedKeyList,
        package.SortedList,
        package.SortedSet,
    ):
        each.__init__ = _for_instances(each, each.__init__)


def prepare_late() -> None:
    late.adapt_on_import({"sortedcontainers": _adapt})
