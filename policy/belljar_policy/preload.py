"""The modules of a profile that a zygote has not loaded.

A zygote of many workers loads all that its profile has. That of a single run, which somebody waits
for, is told which module names occur in the program's text, and loads those and what they import.
A module that it has left out cannot be loaded later: the seal maps no native code, and the classes
of what is loaded while a program runs would count as the program's. So a program that asks for one
in spite of its text (a name that it has put together, a library that imports another one in one of
its functions) is stopped where it asks, before anything notices, and the host starts it over in a
zygote that has them all (engine/outside/start_plan.h).
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from typing import Any

import _belljar_guards as guards

from . import reviewed
from .library.own_modules import ROOT
from .library.program import running
from .modules import ModuleTable

_PARSES_DATES = {"datetime", "time"}
"""Modules whose functions import the internal module _strptime."""
_OWN = ("belljar_policy.", "belljar_runner.")


def _top(name: str) -> str:
    return name.partition(".")[0]


def _modules_of(profile: Mapping[str, Any]) -> set[str]:
    sets = profile.get("packages", {}).values()
    return {*profile.get("modules", {}), *(name for each in sets for name in each["modules"])}


def left_out(profile: Mapping[str, Any], named: Collection[str] | None) -> frozenset[str]:
    """What is not loaded ahead: outermost names of the profile's modules, and names of its internal
    modules. `named`: those outermost names that occur in the program's text, and "*" for the whole
    standard library; None: nothing is known, and nothing left out."""
    if named is None:
        return frozenset()
    tops = set(map(_top, _modules_of(profile)))
    left = tops.difference(named)
    late = set(map(_top, reviewed.LATE | reviewed.LATE_ANYWAY))
    used = tops - left
    if "*" in named or used & late or used - sys.stdlib_module_names:
        # What is loaded while the program runs, and functions of packages, import from the standard
        # library as they like.
        return frozenset(left - sys.stdlib_module_names)
    internal = set(profile.get("imports", {}).get("internal", ()))
    if used & _PARSES_DATES:
        internal.discard("_strptime")
    return frozenset(left | {name for name in internal if _top(name) not in used})


class _Finder:
    """Before the interpreter's own finders: which imports start the program over."""

    def __init__(self, left_out: frozenset[str], modules: ModuleTable) -> None:
        self._modules = modules
        self._cannot_be_loaded = modules.cannot_be_loaded()
        self._has_library = left_out.isdisjoint(sys.stdlib_module_names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not self._may_be_imported(name, path):
            running.start_over()
        return None

    def _may_be_imported(self, name: str, path: Any) -> bool:
        """Whether the import does what it would do if nothing had been left out."""
        if not self._has_library or name in self._cannot_be_loaded:
            return False  # all modules may have imported it, and it would be the library's then
        if guards.is_loading() or _top(name) in reviewed.LATE_PACKAGES:
            return True
        if path is None and name not in sys.stdlib_module_names:
            # With the policy off the program's own folder comes first (runner/own_files.py).
            return sys.path[:1] == [ROOT] and PathFinder.find_spec(name, [ROOT]) is not None
        spec = PathFinder.find_spec(name, path)
        return spec is None or not isinstance(spec.loader, ExtensionFileLoader)


class _LastFinder:
    """After all others: a file of ours that no module before the seal has loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.startswith(_OWN):
            running.start_over()
        return None


def watch(left_out: frozenset[str], modules: ModuleTable) -> None:
    """Zygote, when all else is loaded."""
    sys.meta_path.insert(0, _Finder(left_out, modules))  # type: ignore[arg-type]
    sys.meta_path.append(_LastFinder())  # type: ignore[arg-type]
