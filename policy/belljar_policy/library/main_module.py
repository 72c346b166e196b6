"""What sys.modules[__name__] gives: the program's own module, as an object with its globals."""

from __future__ import annotations

from typing import Any

from . import program
from .objects import its_own_only
from .program import running


def _name(name: Any) -> str:
    if type(name) is not str or not program.may_be_global(name):
        raise AttributeError(f"module '__main__' has no attribute {name!r}")
    return name


@its_own_only
class MainModule:
    """The program's globals, except those that belong to the interpreter."""

    __slots__ = ()

    def __getattr__(self, name: Any) -> Any:
        if name == "__name__":
            return "__main__"
        try:
            return running.scope[_name(name)]
        except KeyError:
            raise AttributeError(f"module '__main__' has no attribute {name!r}") from None

    def __setattr__(self, name: Any, value: Any) -> None:
        running.scope[_name(name)] = value

    def __delattr__(self, name: Any) -> None:
        try:
            del running.scope[_name(name)]
        except KeyError:
            raise AttributeError(f"module '__main__' has no attribute {name!r}") from None

    def __dir__(self) -> list[str]:
        return [name for name in running.scope if program.may_be_global(name)]

    def __repr__(self) -> str:
        return "<module '__main__'>"


MainModule.__module__ = "__main__"
_main = MainModule()
_modules: dict[str, Any] = {}


def modules() -> dict[str, Any]:
    """The modules that the program has or could have imported, in a dict of its own: what it puts
    there, no import finds."""
    for name in running.modules.keys() - _modules.keys():
        _modules[name] = running.modules[name]
    _modules.setdefault("__main__", _main)
    return _modules
