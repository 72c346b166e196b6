"""argparse, for guests: a namespace that the program passes is read and written through the guards.

The library sets attributes by names from its caller (`dest`) on any object that the caller passes
as the namespace, and opens files that arguments name.
"""

from __future__ import annotations

import argparse
import builtins
import sys as _real_sys
from types import SimpleNamespace
from typing import Any

import _belljar_guards as guards

from . import os, sys
from .objects import check_classes_of, is_a, refuses

_INSTEAD = "add_argument() takes type=str, and the program reads the data itself"


class Namespace(SimpleNamespace):
    """The attributes that parse_args() found."""

    def __contains__(self, key: Any) -> bool:
        return guards.hasattr(self, key)

    def __repr__(self) -> str:
        named, others = [], {}
        for name, value in builtins.vars(self).items():
            if name.isidentifier():
                named.append(f"{name}={value!r}")
            else:
                others[name] = value
        if others:
            named.append(f"**{others!r}")
        return f"{type(self).__name__}({', '.join(named)})"


def _is_parsers(value: Any) -> bool:
    return is_a(value, argparse.Action) or is_a(value, argparse._ActionsContainer)


# The names that argparse itself reads from its own objects; others come from its caller.
_OWN_NAMES = frozenset({"_get_formatter", "_handle_conflict_error", "_handle_conflict_resolve"})


def _getattr(value: Any, name: Any, *default: Any) -> Any:
    if type(name) is str and name in _OWN_NAMES and _is_parsers(value):
        return builtins.getattr(value, name, *default)
    return guards.getattr(value, name, *default)


def _hasattr(value: Any, name: Any) -> bool:
    if type(name) is str and name in _OWN_NAMES and _is_parsers(value):
        return builtins.hasattr(value, name)
    return guards.hasattr(value, name)


def _vars(value: Any) -> Any:
    if is_a(value, argparse.Action):  # for the texts of help, which name its attributes
        return dict(builtins.vars(value))
    return guards.vars(value)


def _open(*_: Any, **__: Any) -> Any:
    raise PermissionError(f"[BJ502] argparse opens files; {_INSTEAD}")


class _Sys:
    """What argparse uses of sys, with the program's own arguments and streams."""

    @property
    def argv(self) -> Any:
        return sys.argv()

    @property
    def stdin(self) -> Any:
        return sys.stdin()

    @property
    def stdout(self) -> Any:
        return sys.stdout()

    def __getattr__(self, name: str) -> Any:
        return builtins.getattr(_real_sys, name)


def _width() -> int:
    """Two less than the program's $COLUMNS, or than 80, as in the library without a terminal."""
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, TypeError, ValueError):
        columns = 0
    return (columns if columns > 0 else 80) - 2


def reduce(has_files: bool) -> None:
    """Before the first use: see the top of this file."""
    library: Any = argparse
    original = library.HelpFormatter.__init__

    def __init__(  # noqa: N807
        self: Any, prog: Any, indent_increment: int = 2, max_help_position: int = 24,
        width: Any = None, *more: Any, **options: Any
    ) -> None:  # fmt: skip
        width = _width() if width is None else width  # or shutil would be imported to ask for it
        original(self, prog, indent_increment, max_help_position, width, *more, **options)

    library.HelpFormatter.__init__ = __init__
    check_classes_of(library)
    library._sys = _Sys()
    library.Namespace = Namespace
    library.getattr, library.hasattr, library.setattr = _getattr, _hasattr, guards.setattr
    library.vars = _vars
    if not has_files:
        library.open = _open
        library.FileType = refuses("argparse.FileType", _INSTEAD)
