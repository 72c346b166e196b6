"""The namespace of a guest: builtins, hooks, and its own `__main__`."""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any

import _belljar_guards as guards

from . import tables
from .library import builtins as replaced
from .library import importlib, program, scopes, streams


def make_builtins(has_files: bool) -> dict[str, Any]:
    """The guest's builtins, including the hooks, whose names cannot occur in source text."""
    found: dict[str, Any] = {}
    for name in tables.BUILTINS:
        if hasattr(builtins, name):
            found[name] = getattr(builtins, name)
    for name, value in vars(builtins).items():
        if isinstance(value, type) and issubclass(value, BaseException):
            found[name] = value
    found.update(
        getattr=guards.getattr,
        setattr=guards.setattr,
        hasattr=guards.hasattr,
        delattr=guards.delattr,
        vars=guards.vars,
        dir=guards.dir,
        input=replaced.input,
        exit=replaced.exit,
        quit=replaced.exit,
        help=replaced.help,
        open=replaced.make_open(builtins.open if has_files else None),
        eval=scopes.eval,
        exec=scopes.exec,
        compile=scopes.compile,
        globals=scopes.globals,
        locals=scopes.locals,
        __import__=guards.import_module,
    )
    for name, value in found.items():
        # Replacements get the names of the originals.
        if str(getattr(value, "__module__", "")).startswith(("_belljar_guards", "belljar_policy")):
            value.__module__ = "builtins"
            if isinstance(value, types.FunctionType):
                value.__annotations__ = {}
                value.__name__ = value.__qualname__ = name if name != "quit" else "exit"
    found[tables.HOOK_PRIVATE] = guards.private
    found[tables.HOOK_DUNDER] = guards.dunder
    found[tables.HOOK_WRITE] = guards.write
    found[tables.HOOK_GROUP] = guards.plain_group
    found[tables.IMPORT_BY_NAME] = importlib.import_by_name
    return found


def make_main(guest_builtins: dict[str, Any], name: str) -> dict[str, Any]:
    """Globals of a new module, registered: dataclasses looks a class's module up by its name."""
    streams.protect()
    module = types.ModuleType(name)
    sys.modules[name] = module
    scope = vars(module)
    for extra in ("__loader__", "__spec__", "__package__"):
        scope.pop(extra, None)
    scope["__builtins__"] = guest_builtins
    scope["__file__"] = program.running.filename
    return scope
