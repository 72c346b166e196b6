"""importlib.util, for guests: whether a module can be imported."""

from __future__ import annotations

from typing import Any

from .objects import its_own_only
from .own_modules import own
from .program import running


@its_own_only
class ModuleSpec:
    """The name of a module that can be imported."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"ModuleSpec(name={self.name!r})"


def find_spec(name: str, package: str | None = None) -> Any:
    """Not None if the program may import the module."""
    if type(name) is not str:
        raise TypeError("[BJ502] find_spec() takes a plain str")
    if own.is_own(name):
        return None if own.find(name) is None else ModuleSpec(name)
    return None if running.load_module(name) is None else ModuleSpec(name)
