"""The modules of a profile that a zygote has not loaded.

A zygote of many workers loads all that its profile has. That of a single run, which somebody waits
for, is told which module names occur in the program's text, and loads those and what they import.
A module that it has left out cannot be loaded later: the seal maps no native code, and what is
loaded while a program runs would count as the program's. So a program that asks for one in spite of
its text (a name that it has put together, a library that imports another one in one of its
functions) is stopped where it asks, before anything notices, and the host starts it over in a
zygote that has loaded all (engine/outside/run_once.h).
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from importlib.machinery import ModuleSpec
from typing import Any

from . import reviewed
from .library.program import running

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
    modules. `named`: those outermost names that occur in the program's text; None: nothing is
    known, and nothing left out."""
    if named is None:
        return frozenset()
    tops = set(map(_top, _modules_of(profile)))
    left = tops.difference(named)
    late = set(map(_top, reviewed.LATE | reviewed.LATE_ANYWAY))
    used = tops - left
    if used & late or used - sys.stdlib_module_names:
        # What is loaded while the program runs, and functions of packages, import from the standard
        # library as they like.
        return frozenset(left - sys.stdlib_module_names)
    internal = set(profile.get("imports", {}).get("internal", ()))
    if used & _PARSES_DATES:
        internal.discard("_strptime")
    return frozenset(left | {name for name in internal if _top(name) not in used})


class _Finder:
    """Before the interpreter's own finders."""

    def __init__(self, absent: frozenset[str]) -> None:
        self._absent = absent

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name in self._absent or _top(name) in self._absent:
            running.start_over()
        return None


class _LastFinder:
    """After all others: a file of ours that no module before the seal has loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.startswith(_OWN):
            running.start_over()
        return None


def watch(absent: frozenset[str]) -> None:
    """Zygote, when all is loaded. `absent`: what starts the program over, when imported."""
    sys.meta_path.insert(0, _Finder(absent))  # type: ignore[arg-type]
    sys.meta_path.append(_LastFinder())  # type: ignore[arg-type]
