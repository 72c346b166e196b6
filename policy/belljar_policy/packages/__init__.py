"""Packages that Belljar does not bring along: how each is loaded in a zygote, and what is changed
in it before a guest uses it. One module here for each that needs something.

    prepare()   before its import: what it would do to the machine (threads, files) it does not do
    adapt()     after all imports: methods that evaluate text judge it; what it loads on first use
                is loaded, since a sealed worker maps no more native code
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import sys
import types
from collections.abc import Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from .. import reviewed

_KNOWN = frozenset(module.name for module in pkgutil.iter_modules(__path__))


def _own(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}") if name in _KNOWN else None


def load(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Imports the modules of packages left open that are there, and adapts them. Returns the
    profile with what it has of those that nobody has reviewed: `[imports] open` names the packages,
    the sets their modules.
    """
    modules = profile.get("modules", {})
    unreviewed = _unreviewed(profile)
    names = [name for name in modules if name.partition(".")[0] in reviewed.OPEN_PACKAGES]
    for package in sorted({name.partition(".")[0] for name in (*names, *unreviewed)}):
        if hasattr(own := _own(package), "prepare"):
            own.prepare()
    for name in names:
        with contextlib.suppress(ImportError):  # whoever needs it says so
            importlib.import_module(name)
    for name in unreviewed:
        _import_unreviewed(name)
    # Also those that came with the others.
    for package in sorted(_KNOWN & sys.modules.keys()):
        if (names or unreviewed) and hasattr(own := _own(package), "adapt"):
            own.adapt()
    found = {name: sys.modules.get(name) for name in unreviewed}
    entries = {
        name: _entry(module)
        for name, module in found.items()
        if issubclass(type(module), types.ModuleType)  # some put another object there
    }
    return {**profile, "modules": {**modules, **entries}}


def _unreviewed(profile: Mapping[str, Any]) -> list[str]:
    """Modules of the packages that the profile leaves open by itself, which are left open from here
    on. None that the profile has anyway, or that Python brings: what it gives of those is decided.
    """
    known = {name.partition(".")[0] for name in profile.get("modules", {})}
    known |= sys.stdlib_module_names | {"belljar_policy", "belljar_runner", "_belljar_guards"}
    opened = frozenset(profile.get("imports", {}).get("open", ())) - known
    reviewed.OPEN_PACKAGES |= opened
    sets = profile.get("packages", {}).values()
    names = {name for each in sets for name in each["modules"]}
    return sorted(name for name in names if name.partition(".")[0] in opened)


def _import_unreviewed(name: str) -> None:
    """It may be a program, or want what is not here: then there is no such module."""
    try:
        importlib.import_module(name)
    except BaseException:
        sys.modules.pop(name, None)


def _entry(module: types.ModuleType) -> dict[str, Any]:
    return {"why": "installed packages, reviewed by nobody", "exports": public_names(module)}


def public_names(module: types.ModuleType) -> list[str]:
    """What the module calls its own: `__all__`, or what it defines under a public name. No modules:
    what it has below it comes with it.
    """
    listed = getattr(module, "__all__", None)
    listed = listed if isinstance(listed, (list, tuple)) else vars(module)
    names = {name for name in listed if type(name) is str and name.isidentifier()}
    return sorted(
        name
        for name in names
        if (name[0] != "_" or name == "__version__")
        and name in vars(module)
        and _is_own(vars(module)[name])
    )


def _is_own(value: Any) -> bool:
    """No module, and no function or class that another package made."""
    try:
        if isinstance(value, types.ModuleType):
            return False
        made_in = getattr(value, "__module__", None)
    except Exception:  # it asks for something first, as django.conf.settings does
        return False
    if type(made_in) is not str or not callable(value):
        return True
    return made_in.partition(".")[0] in reviewed.OPEN_PACKAGES


def load_native(package: str, leave_out: tuple[str, ...] = ("test", "_test")) -> None:
    """Imports every extension module of a package that can be imported here."""
    for folder in importlib.import_module(package).__path__:
        root = Path(folder)
        for path in sorted(root.rglob("*.so")):
            suffix = next((each for each in EXTENSION_SUFFIXES if path.name.endswith(each)), None)
            if suffix is None:
                continue
            parts = (*path.parent.relative_to(root).parts, path.name.removesuffix(suffix))
            if any(part.startswith(leave_out) for part in parts):
                continue
            try:
                importlib.import_module(".".join((package, *parts)))
            except ImportError:  # for another machine, or needs what is not installed
                continue
