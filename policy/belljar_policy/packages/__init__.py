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
from collections.abc import Iterable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from .. import reviewed

_KNOWN = frozenset(module.name for module in pkgutil.iter_modules(__path__))


def _own(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}") if name in _KNOWN else None


def load(modules: Iterable[str]) -> None:
    """Imports those of `modules` that are of packages left open and are there, and adapts them."""
    names = [name for name in modules if name.partition(".")[0] in reviewed.OPEN_PACKAGES]
    packages = sorted({name.partition(".")[0] for name in names})
    for package in packages:
        if hasattr(own := _own(package), "prepare"):
            own.prepare()
    for name in names:
        with contextlib.suppress(ImportError):  # whoever needs it says so
            importlib.import_module(name)
    # Also those that came with the others.
    for package in sorted(_KNOWN & sys.modules.keys()):
        if names and hasattr(own := _own(package), "adapt"):
            own.adapt()


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
