"""Modules, and names in them, that a package looks up because a program wrote their names: a
backend, a hook, a printer's imports.

A package asks with the library's rights: what it imports runs, and what it finds it calls or hands
out. A list of packages to trust is no answer, since each holds modules that nobody has reviewed. So
a name is looked up among what the profile exports, or a module among those that the package itself
has for the purpose.
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
    """What a program could import from `module`, by name; None where the profile has no such one.

    Without a program, all that the module has: a zygote prepares, or all of Python is allowed.
    """
    if not lookout.watches():
        return vars(importlib.import_module(module))
    proxy = running.modules.get(module) if type(module) is str else None
    if proxy is None:
        return None
    return {name: getattr(proxy, name) for name in guards.export_names(proxy)}


def refuse(what: str) -> None:
    """Where a program runs."""
    if lookout.watches():
        raise PermissionError(f"[BJ502] {what}")


def importing_only(modules: Collection[str], what: str) -> Callable[..., Any]:
    """In place of importlib.import_module: while a program runs, these modules and no others."""

    def import_module(name: str, package: str | None = None) -> Any:
        # A subclass of str could be equal to one name and imported by another.
        if type(name) is not str or name not in modules:
            refuse(what)
        return importlib.import_module(name, package)

    return import_module


def only_importing(modules: Collection[str], what: str) -> types.ModuleType:
    """In place of the module `importlib` among a module's globals: a module too, which no package
    exports and no program can look into.
    """
    return stand_in(importlib, import_module=importing_only(modules, what))


def stand_in(module: types.ModuleType, **names: Any) -> types.ModuleType:
    made = types.ModuleType(module.__name__, module.__doc__)
    vars(made).update(names)
    return made
