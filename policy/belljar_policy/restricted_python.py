"""RestrictedPython's transformer, without the rest of the package.

The package's `__init__` imports guards, limits and utilities that are not used here and cost 3 ms
of a zygote's start. So only the one module is loaded, under a package object whose `__init__` is
not run. A later import gets the complete package, with the same transformer.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
from typing import Any

_PACKAGE = "RestrictedPython"


def _load() -> Any:
    name = f"{_PACKAGE}.transformer"
    if _PACKAGE in sys.modules:
        return importlib.import_module(name)
    spec = importlib.machinery.PathFinder.find_spec(_PACKAGE)
    if spec is None:
        raise ImportError("RestrictedPython is not installed")
    bare: Any = types.ModuleType(_PACKAGE)
    bare.__path__ = spec.submodule_search_locations
    sys.modules[_PACKAGE] = bare
    try:
        return importlib.import_module(name)
    finally:
        del sys.modules[_PACKAGE]


_transformer = _load()
INSPECT_ATTRIBUTES: frozenset[str] = _transformer.INSPECT_ATTRIBUTES
RestrictingNodeTransformer: Any = _transformer.RestrictingNodeTransformer
