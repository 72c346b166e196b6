"""How library code that stands before guests looks at their objects: never through a method, an
attribute or an isinstance() that a guest could have supplied.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import _belljar_guards as guards

mro_of = type.__dict__["__mro__"].__get__
"""The method resolution order of a class; TypeError for what is none."""
dict_of = type.__dict__["__dict__"].__get__
"""A class's own namespace, read-only."""


def is_a(value: Any, cls: type) -> bool:
    """isinstance() that asks neither `value` nor the class of `cls`."""
    for base in mro_of(type(value)):  # a loop, not any(): asyncio's methods ask at every call
        if base is cls:
            return True
    return False


def need_guest_class(cls: Any, who: str) -> None:
    """TypeError unless the program made the class `cls`."""
    if not guards.is_guest_class(cls):
        raise TypeError(f"[BJ502] {who}() takes a class that the program made")


def only_for_its_own(cls: Any, name: str) -> None:
    """Makes the method `name` of the library's class `cls` insist on a `self` of that class.

    A method of a Python class takes anything for `self`, and then does to it, by the names that it
    says it has, whatever it would do to its own.
    """
    original = cls.__dict__[name]

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_a(self, cls):
            raise TypeError(f"{name}() takes a {cls.__name__}, not {type(self).__name__!r}")
        return original(self, *args, **kwargs)

    # Not functools.wraps: `__wrapped__` would be the way around, and it is slow for so many.
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(method, attribute, getattr(original, attribute))
    setattr(cls, name, method)


def refuses(name: str, hint: str) -> Callable:
    """A method that only says that the library's opens files."""

    def method(*_: Any, **__: Any) -> Any:
        raise PermissionError(f"[BJ502] {name}() opens files; {hint}")

    method.__name__ = method.__qualname__ = name.rpartition(".")[2]
    return method


def its_own_only(cls: Any) -> Any:
    """Decorates a class of ours that guests get: only_for_its_own() for all its methods.

    It says that it belongs to the library's module that it stands in for.
    """
    cls.__module__ = cls.__module__.rpartition(".")[2].replace("_", ".")
    for name, value in list(cls.__dict__.items()):
        if type(value) is FunctionType and name not in _GIVEN_THEIR_OWN:
            only_for_its_own(cls, name)
    return cls


# Called with what the class says it is, or looked up on the class itself.
_GIVEN_THEIR_OWN = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
