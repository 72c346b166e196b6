"""importlib, for guests: import_module() gives what an import statement would give."""

from __future__ import annotations

from typing import Any

from .. import tables
from . import scopes
from .own_modules import own
from .program import running
from .types import ModuleType


def import_module(name: str, package: str | None = None) -> Any:
    """The module of that name, if the program may import it."""
    if type(name) is not str:
        raise TypeError("[BJ502] import_module() takes a plain str")
    if name.startswith("."):
        bare = name.lstrip(".")
        try:
            name = own.absolute(bare, package, len(name) - len(bare))
        except ImportError as error:
            raise ImportError(f"[BJ204] {error}") from None
    found = running.load_module(name)
    if found is None:
        raise ModuleNotFoundError(
            f"[BJ201] module {name!r} is not available in this sandbox", name=name
        )
    return found


def import_by_name(
    name: Any, globals: Any = None, locals: Any = None, fromlist: Any = (), level: Any = 0
) -> Any:
    """__import__(): the module, or without `fromlist` the package that it is in."""
    if type(fromlist) is tuple and fromlist == tables.STAR and type(name) is str:
        for each, value in own.star_of(name).items():
            scopes.bind(each, value)
        return None
    if type(level) is not int or level != 0:
        raise ImportError("[BJ204] there is no package to import from")
    found = import_module(name)
    return found if fromlist else import_module(name.partition(".")[0])


def reload(module: Any) -> Any:
    """The module. One of the program's files runs again; others cannot have changed."""
    if type(module) is not ModuleType:
        raise TypeError("reload() argument must be a module")
    return own.reload(module) if own.has(module) else module


def invalidate_caches() -> None:
    """Nothing to do: there are no caches."""
