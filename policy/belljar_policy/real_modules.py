"""Real modules, where packages are left open: who comes to hold one gets nothing from it.

engine/inside/guards/real_modules.cc says why and how; here is which modules.
"""

from __future__ import annotations

import gc
import sys
import types
from importlib import _bootstrap  # type: ignore[attr-defined]
from typing import Any

import _belljar_guards as guards


def guard() -> None:
    """Zygote, before the freeze: all that are there, and each that is imported later."""
    for value in (*gc.get_objects(), *sys.modules.values()):
        if issubclass(type(value), types.ModuleType):
            guards.guard_module(value)
    original = _bootstrap._init_module_attrs

    def init_module_attrs(spec: Any, module: Any, *, override: bool = False) -> Any:
        guards.guard_module(module)
        return original(spec, module, override=override)

    _bootstrap._init_module_attrs = init_module_attrs
