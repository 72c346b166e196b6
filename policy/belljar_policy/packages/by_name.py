"""Lookup of modules and names that a program gives to a package: a backend, a hook, a printer's
imports.

A package has the library's rights: what it imports runs, and what it finds it calls or returns. A
list of trusted packages would not help, because each has unreviewed modules. So names are looked up
in the profile's exports, and modules among those that the package provides for the purpose.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable, Collection
from typing import Any

import _belljar_guards as guards

from .. import lookout
from ..library.program import running


def exports_of(module: str) -> dict[str, Any] | None:
    """What a program can import from `module`, by name; None if the profile does not have it.

    If no program is watched (zygote start, or the policy off), everything in the module.
    """
    if not lookout.watches():
        return vars(importlib.import_module(module))
    if type(module) is str:
        running.need(module)
    proxy = running.modules.get(module) if type(module) is str else None
    if proxy is None:
        return None
    return {name: getattr(proxy, name) for name in guards.export_names(proxy)}


def refuse(what: str) -> None:
    """Raises if a program is running."""
    if lookout.watches():
        raise PermissionError(f"[BJ502] {what}")


def importing_only(modules: Collection[str], what: str) -> Callable[..., Any]:
    """Replaces importlib.import_module: while a program runs, it only imports these modules."""

    def import_module(name: str, package: str | None = None) -> Any:
        # A subclass of str could be equal to one name and imported by another.
        if type(name) is not str or name not in modules:
            refuse(what)
        return importlib.import_module(name, package)

    return import_module


def only_importing(modules: Collection[str], what: str) -> types.ModuleType:
    """Replaces the module `importlib` in a module's globals. The result is a module too, which no
    package exports and no program can inspect.
    """
    return stand_in(importlib, import_module=importing_only(modules, what))


def stand_in(module: types.ModuleType, **names: Any) -> types.ModuleType:
    made = types.ModuleType(module.__name__, module.__doc__)
    vars(made).update(names)
    return made
