"""Packages that are loaded when a program imports them (reviewed.LATE_PACKAGES): they are too large
for every worker's memory, and few programs need one.

A sealed worker reads their files and maps no native code, which is therefore mapped ahead. Their
modules are changed as soon as they have been executed, whoever imports them: pandas does, too.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, PathFinder
from pathlib import Path
from types import FrameType
from typing import Any

import _belljar_guards as guards

from .. import lookout, reviewed, tables
from ..library.program import running
from ..modules import ModuleTable

Adapt = Callable[[Any], None]

_adapters: dict[str, Adapt] = {}

# Of these every access by a computed name is checked. Some of their objects pass any attribute on
# to what they wrap: tqdm's files, styles of openpyxl, faker's `unique`.
_PACKAGES = reviewed.LATE_PACKAGES | {"et_xmlfile", "soupsieve"}


def _is_watched() -> bool:
    """Whether a program runs that could have chosen the object and the name: not where its import
    statement has a module of these loaded, unless the module has called the program meanwhile."""
    if not lookout.watches():
        return False
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_builtins is not running.builtins:
        if frame.f_code is ModuleTable.load.__code__:
            return False
        frame = frame.f_back
    return True


def _getattr(owner: Any, name: str, *default: Any) -> Any:
    """The library's getattr(): a real module gives it nothing while a program runs, as it could be
    the program's (guards/real_modules.cc serves all library code)."""
    if name in tables.REFUSED_NAMES:
        raise AttributeError(f"[BJ301] attribute {name!r} belongs to the interpreter")
    if issubclass(type(owner), types.ModuleType) and _is_watched():
        if default:
            return default[0]
        raise AttributeError(f"[BJ301] attribute {name!r} of a module may not be read here")
    return getattr(owner, name, *default)


def _setattr(owner: Any, name: str, value: Any) -> None:
    """The library's setattr(): on its instances, and not on modules and classes."""
    if _is_watched() and (
        issubclass(type(owner), (types.ModuleType, type))
        or type(name) is not str
        or name.startswith("__")
    ):
        raise AttributeError(f"[BJ305] attribute {name!r} may not be set here")
    setattr(owner, name, value)


def public_getattr(owner: Any, name: str, *default: Any) -> Any:
    """For code that calls what a program names: a method, and none with a private name."""
    if type(name) is not str or name.startswith("_"):
        raise AttributeError(f"[BJ302] attribute {name!r} may not be used by its name")
    return _getattr(owner, name, *default)


def guard_names(module: types.ModuleType) -> None:
    """Before the module is executed."""
    if module.__name__.partition(".")[0] in _PACKAGES:
        vars(module).update(getattr=_getattr, setattr=_setattr)


class _Finder:
    """Before the interpreter's own finders, for the modules that are changed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in _adapters:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            execute = loader.exec_module

            def exec_module(module: types.ModuleType) -> None:
                execute(module)
                _adapters[name](module)

            loader.exec_module = exec_module
        return spec


def adapt_on_import(adapters: dict[str, Adapt]) -> None:
    """Zygote: which functions change which modules."""
    if not _adapters:
        sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]
    _adapters.update(adapters)


def load(name: str) -> None:
    """Before a library imports `name` for a running program: with the classes of the package as the
    library's, whatever `allowed_imports` says."""
    if lookout.watches():
        running.load_late(name)


def map_native(package: str, *, opens_files: tuple[str, ...] = ()) -> None:
    """Zygote: maps the extension modules of a package without executing them. Those of
    `opens_files` report files that they open."""
    with contextlib.suppress(ImportError):  # reported where the package is imported
        spec = importlib.util.find_spec(package)
        for folder in () if spec is None else spec.submodule_search_locations or ():
            for path in sorted(Path(folder).rglob("*.so")):
                _map(package, Path(folder), path, opens_files)


def _map(package: str, root: Path, path: Path, opens_files: tuple[str, ...]) -> None:
    suffix = next((each for each in EXTENSION_SUFFIXES if path.name.endswith(each)), None)
    if suffix is None:
        return
    name = path.name.removesuffix(suffix)
    module = ".".join((package, *path.parent.relative_to(root).parts, name))
    guards.map_library(str(path), f"PyInit_{name}", module in opens_files)
