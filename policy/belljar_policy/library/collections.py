"""collections, for guests: a copy has exactly the class of its original."""

from __future__ import annotations

import collections
from typing import Any

from .objects import is_a


def _copy_of(cls: Any) -> Any:
    def __copy__(self: Any) -> Any:  # noqa: N807
        if not is_a(self, cls):
            raise TypeError(f"__copy__() takes a {cls.__name__}, not {type(self).__name__!r}")
        kind = type(self)
        made = kind.__new__(kind)
        # A guest's __new__ could return any object, which would then get attributes of its choice.
        if type(made) is not kind:
            raise TypeError("[BJ502] __new__ returned an object of another class; define __copy__")
        made.__dict__.update(self.__dict__)
        made.__dict__["data"] = self.__dict__["data"].copy()
        return made

    return __copy__


def reduce() -> None:
    """Zygote, before the freeze: UserDict and UserList only fill copies of their own class."""
    for cls in (collections.UserDict, collections.UserList):
        method: Any = _copy_of(cls)
        method.__module__, method.__qualname__ = "collections", f"{cls.__name__}.__copy__"
        cls.__copy__ = method  # type: ignore[union-attr]
