"""Inspection of guest objects by library replacements: never through a method, an attribute or an
isinstance() that a guest could have supplied.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import _belljar_guards as guards

STAND_IN = "refusing_"
"""How the files of modules that only refuse begin (refusing.py)."""
mro_of = type.__dict__["__mro__"].__get__
"""The method resolution order of a class; TypeError for other objects."""
dict_of = type.__dict__["__dict__"].__get__
"""A class's own namespace, read-only."""


def is_a(value: Any, cls: type) -> bool:
    """isinstance() that calls no method of `value` or of the class of `cls`."""
    for base in mro_of(type(value)):  # a loop is faster than any(): asyncio calls this often
        if base is cls:
            return True
    return False


def has_finalizer(cls: type) -> bool:
    """Whether a class of the program defines __del__()."""
    return guards.is_guest_class(cls) and any(
        "__del__" in dict_of(base) for base in mro_of(cls) if guards.is_guest_class(base)
    )


def need_guest_class(cls: Any, who: str) -> None:
    """Raises TypeError unless the program defined the class `cls`."""
    if not guards.is_guest_class(cls):
        raise TypeError(f"[BJ502] {who}() only takes a class that the program defined")


def only_for_its_own(cls: Any, name: str) -> None:
    """Makes the method `name` of the library's class `cls` check the type of `self`.

    Methods of Python classes accept any object as `self` and read and write its attributes.
    """
    original = cls.__dict__[name]

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not is_a(self, cls):
            raise TypeError(f"{name}() takes a {cls.__name__}, not {type(self).__name__!r}")
        return original(self, *args, **kwargs)

    # Not functools.wraps: `__wrapped__` would bypass the check, and it is slow for many methods.
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(method, attribute, getattr(original, attribute))
    setattr(cls, name, method)


def refuses(name: str, hint: str) -> Callable:
    """A method that raises because the original opens files."""

    def method(*_: Any, **__: Any) -> Any:
        raise PermissionError(f"[BJ502] {name}() opens files; {hint}")

    method.__name__ = method.__qualname__ = name.rpartition(".")[2]
    return method


def its_own_only(cls: Any) -> Any:
    """Class decorator for replacements: only_for_its_own() for all methods.

    It also sets `__module__` to the library module that the class replaces.
    """
    file = cls.__module__.rpartition(".")[2].removeprefix(STAND_IN)
    cls.__module__ = file.replace("_", ".")
    _check_methods(cls)
    return cls


# Called on the class instead of an instance.
_GIVEN_THEIR_OWN = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def present_as(module: str, names: dict[str, Any]) -> None:
    """Sets `__module__` of what a replacement module defines to the library's module. ModuleTable
    does so when it exports one; this is for those that another replacement may import before."""
    for value in list(names.values()):
        is_own = isinstance(value, (FunctionType, type)) and value.__module__ == names["__name__"]
        if is_own:
            value.__module__ = module
            if isinstance(value, FunctionType):
                value.__annotations__ = {}


def check_packages(names: Iterable[str]) -> None:
    """only_for_its_own() for the methods of all classes that these modules and their submodules
    define, exceptions apart."""
    tops = set(names)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in tops:
            continue
        for cls in list(vars(module).values()):
            # Only where the class is defined: a second wrapper would wrap the first.
            if not isinstance(cls, type) or cls.__module__ != name:
                continue
            if not issubclass(cls, BaseException):
                _check_methods(cls)


def check_classes_of(module: Any) -> None:
    """only_for_its_own() for the methods of all classes that `module` defines."""
    for value in list(vars(module).values()):
        # Only where the class is defined: a second wrapper would wrap the first.
        if isinstance(value, type) and value.__module__ == module.__name__:
            _check_class(value)


def _check_methods(cls: Any) -> None:
    for name, value in list(vars(cls).items()):
        if type(value) is FunctionType and name not in _GIVEN_THEIR_OWN:
            only_for_its_own(cls, name)


def _check_class(cls: Any) -> None:
    _check_methods(cls)
    for value in list(vars(cls).values()):
        if isinstance(value, type) and value.__qualname__.startswith(f"{cls.__qualname__}."):
            _check_class(value)
