"""Makes real modules useless to programs in profiles with open packages.

engine/inside/guards/real_modules.cc explains why and how; this file selects the modules.
"""

from __future__ import annotations

import gc
import sys
import types
from importlib import _bootstrap  # type: ignore[attr-defined]
from typing import Any

import _belljar_guards as guards

from . import reviewed
from .packages import late


def guard() -> None:
    """Zygote, before the freeze: all existing modules, and each one imported later."""
    for value in (*gc.get_objects(), *sys.modules.values()):
        if issubclass(type(value), types.ModuleType):
            guards.guard_module(value)
    original = _bootstrap._init_module_attrs

    def init_module_attrs(spec: Any, module: Any, *, override: bool = False) -> Any:
        guards.guard_module(module)
        late.guard_names(module)
        return original(spec, module, override=override)

    _bootstrap._init_module_attrs = init_module_attrs
    guards.guard_forwarders(dict(reviewed.MODULE_READERS))
