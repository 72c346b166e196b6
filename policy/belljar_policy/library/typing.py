"""typing, for guests: text in annotations is evaluated as the program's own, or not at all."""

from __future__ import annotations

import types
import typing
from typing import Any

import _belljar_guards as guards

from . import lazy_annotations, program, scopes
from .objects import dict_of, mro_of, only_for_its_own
from .types import check_namespace


def no_type_check(arg: Any) -> Any:
    """typing.no_type_check, which has no effect here."""
    return arg


def get_type_hints(
    obj: Any, globalns: Any = None, localns: Any = None, include_extras: bool = False
) -> dict[str, Any]:
    """typing.get_type_hints, for what the program defined. Text is checked like its source."""
    found: list[tuple[Any, dict[str, Any]]] = []  # annotations, and where their text is evaluated
    if issubclass(type(obj), type):
        for base in reversed(mro_of(obj)):
            if guards.is_guest_class(base):
                where = program.running.scope_of(dict_of(base).get("__module__"))
                found.append((lazy_annotations.of_class(base), where))
    else:
        while type(obj) is types.MethodType:
            obj = obj.__func__
        if guards.is_guest_function(obj):
            where = program.running.globals_of(obj)
            found.append((obj.__annotations__, where))
    hints: dict[str, Any] = {}
    for names, where in found:
        scope: dict[str, Any] | None = None
        for name, value in names.items() if type(names) is dict else ():
            if type(value) is str:
                if scope is None:
                    scope = scopes.namespace(where, globalns, localns)
                value = lazy_annotations.evaluate_text(value, scope)
            hints[name] = type(None) if value is None else value
    if include_extras:
        return hints
    strip: Any = typing._strip_annotations  # type: ignore[attr-defined]
    return {name: strip(value) for name, value in hints.items()}


def reduce() -> None:
    """Zygote, before the freeze: methods check the type of `self`."""
    if not lazy_annotations.ARE_LAZY:
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
