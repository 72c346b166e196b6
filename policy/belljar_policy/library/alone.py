"""Loads modules of the standard library for guests only, with stand-ins for what they import."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import FunctionType, ModuleType
from typing import Any

from .objects import only_for_its_own

taken_out: list[ModuleType] = []
"""Modules that were loaded and are not in sys.modules."""


def stand_in(name: str, **names: Any) -> ModuleType:
    """A module with just these names."""
    made = ModuleType(name)
    vars(made).update(names)
    return made


def load(name: str, stand_ins: dict[str, ModuleType | None]) -> Any:
    """A new copy of the library's module `name`; None stands for a module that is not there.

    Nothing of it stays in sys.modules: packages and programs without the policy need the real
    ones.
    """
    replaced = (name, *stand_ins)
    before = {each: sys.modules[each] for each in replaced if each in sys.modules}
    sys.modules.pop(name, None)
    sys.modules.update(stand_ins)  # type: ignore[arg-type]
    register_at_fork = os.register_at_fork
    os.register_at_fork = lambda **_: None  # it would be called for every worker
    try:
        return importlib.import_module(name)
    finally:
        os.register_at_fork = register_at_fork
        if name in sys.modules:
            taken_out.append(sys.modules[name])
        for each in replaced:
            sys.modules.pop(each, None)
        sys.modules.update(before)


def seal(cls: Any) -> None:
    """Makes all methods of a library class check their instance."""
    for name, value in list(vars(cls).items()):
        if type(value) is FunctionType and name not in ("__new__", "__class_getitem__"):
            only_for_its_own(cls, name)
