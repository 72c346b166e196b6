"""Third-party packages: how each is loaded in a zygote and changed before a guest uses it. Packages
that need changes have a module here.

    prepare()   before the import: prevents side effects (threads, files)
    adapt()     after all imports: makes methods that evaluate text check it, and loads what the
                package loads on first use, since a sealed worker cannot map native code
    prepare_late()  instead, of packages that are loaded when a program imports them (late.py)
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import sys
import types
from collections.abc import Collection, Iterator, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from .. import reviewed

# Packages that have to be prepared because another one imports them.
_BROUGHT_BY = {"seaborn": ("matplotlib",)}
_KNOWN = frozenset(module.name for module in pkgutil.iter_modules(__path__))


def _own(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}") if name in _KNOWN else None


def load(profile: Mapping[str, Any], left_out: frozenset[str]) -> dict[str, Any]:
    """Imports and adapts the installed modules of open packages, except those in packages that are
    `left_out` (preload.py). Returns the profile with the exports of unreviewed packages added:
    `[imports] open` names the packages, the package sets their modules.
    """
    modules = profile.get("modules", {})
    unreviewed = [name for name in _unreviewed(profile) if name.partition(".")[0] not in left_out]
    packages = reviewed.OPEN_PACKAGES - left_out
    names = [name for name in modules if name.partition(".")[0] in packages]
    later = {name.partition(".")[0] for name in modules} & reviewed.LATE_PACKAGES
    names = [name for name in names if name.partition(".")[0] not in later]
    for package in sorted(later - left_out):
        if hasattr(own := _own(package), "prepare_late"):
            own.prepare_late()
    with _absent(later):
        _load(names, unreviewed)
    found = {name: sys.modules.get(name) for name in unreviewed}
    entries = {
        name: _entry(module)
        for name, module in found.items()
        if issubclass(type(module), types.ModuleType)  # some packages replace it in sys.modules
    }
    return {**profile, "modules": {**modules, **entries}}


@contextlib.contextmanager
def _absent(packages: Collection[str]) -> Iterator[None]:
    """Others, such as fontTools, would import them into the zygote, as they are there."""
    for package in packages:
        sys.modules[package] = None  # type: ignore[assignment]
    yield
    for package in packages:
        del sys.modules[package]


def _load(names: list[str], unreviewed: list[str]) -> None:
    packages = {name.partition(".")[0] for name in (*names, *unreviewed)}
    packages.update(*(_BROUGHT_BY.get(package, ()) for package in packages.copy()))
    for package in sorted(packages):
        if hasattr(own := _own(package), "prepare"):
            own.prepare()
    for name in names:
        with contextlib.suppress(ImportError):  # reported where the module is needed
            importlib.import_module(name)
    for name in unreviewed:
        _import_unreviewed(name)
    # Including those imported by other packages.
    for package in sorted((_KNOWN & sys.modules.keys()) - reviewed.LATE_PACKAGES):
        if (names or unreviewed) and hasattr(own := _own(package), "adapt"):
            own.adapt()


def _unreviewed(profile: Mapping[str, Any]) -> list[str]:
    """The modules of the packages in `[imports] open`, which become open packages. Excludes modules
    of the profile and the standard library, whose exports are reviewed.
    """
    known = {name.partition(".")[0] for name in profile.get("modules", {})}
    known |= sys.stdlib_module_names | {"belljar_policy", "belljar_runner", "_belljar_guards"}
    opened = frozenset(profile.get("imports", {}).get("open", ())) - known
    reviewed.OPEN_PACKAGES |= opened
    sets = profile.get("packages", {}).values()
    names = {name for each in sets for name in each["modules"]}
    return sorted(name for name in names if name.partition(".")[0] in opened)


def _import_unreviewed(name: str) -> None:
    """Imports a module. Anything that it raises means that the module is not available."""
    try:
        importlib.import_module(name)
    except BaseException:
        sys.modules.pop(name, None)


def _entry(module: types.ModuleType) -> dict[str, Any]:
    return {"why": "installed package, not reviewed", "exports": public_names(module)}


def public_names(module: types.ModuleType) -> list[str]:
    """The module's public names: `__all__`, or the public names that it defines. Excludes modules;
    submodules have entries of their own.
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
    """Whether the value is not a module, and not a function or class of another package."""
    try:
        if isinstance(value, types.ModuleType):
            return False
        made_in = getattr(value, "__module__", None)
    except Exception:  # attribute access may fail, for example for django.conf.settings
        return False
    if type(made_in) is not str or not callable(value):
        return True
    return made_in.partition(".")[0] in reviewed.OPEN_PACKAGES


def load_native(package: str, leave_out: tuple[str, ...] = ("test", "_test")) -> None:
    """Imports every extension module of a package that can be imported."""
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
            except ImportError:  # for another platform, or with missing dependencies
                continue
