"""typing, for guests: annotations are never evaluated."""

from __future__ import annotations

import typing
from typing import Any

from . import program
from .objects import only_for_its_own
from .types import check_namespace


def no_type_check(arg: Any) -> Any:
    """typing.no_type_check, which has no effect here."""
    return arg


def reduce() -> None:
    """Zygote, before the freeze: methods check the type of `self`."""
    only_for_its_own(typing.ForwardRef, "__init__")  # it leaves a code object in `self`
    meta: Any = typing.NamedTupleMeta  # type: ignore[attr-defined]
    original = meta.__new__

    def __new__(cls: Any, typename: Any, bases: Any, ns: Any) -> Any:  # noqa: N807
        if program.running.scope is program.NO_SCOPE:  # a library's, with the policy off
            return original(cls, typename, bases, ns)
        return original(cls, typename, bases, check_namespace(dict(ns)))

    meta.__new__ = __new__


def forget() -> None:
    """Zygote, last: clears caches, whose keys are passed to the __eq__ of guest objects with equal
    hashes."""
    for clear in typing._cleanups:  # type: ignore[attr-defined]
        clear()
