"""Changes to sqlite3: no program gives SQLite an address that it calls.

fts3_tokenizer() takes the address of a table of functions as a bound value, and tells those of its
own. All SQL comes through the methods that are changed here: what a statement's own text does not
name, no other part of a database can call, since SQLite allows the function in no view or trigger.
"""

from __future__ import annotations

import importlib
from typing import Any

import _belljar_guards as guards

from . import program
from .objects import is_a

_TAKES_ADDRESSES = "fts3_tokenizer"
_TAKE_SQL = ("execute", "executemany", "executescript")


def reduce() -> None:
    """Zygote, before the freeze."""
    library = importlib.import_module("sqlite3")
    for cls in (library.Connection, library.Cursor):
        for name in _TAKE_SQL:
            _replace(cls, name, _judged(getattr(cls, name)))
    # Since 3.12. With SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, SQLite accepts addresses in SQL too.
    if hasattr(library.Connection, "setconfig"):
        _replace(library.Connection, "setconfig", _refused(library.Connection.setconfig))


def _replace(cls: type, name: str, ours: Any) -> None:
    original = getattr(cls, name)
    for attribute in ("__doc__", "__name__", "__qualname__"):
        setattr(ours, attribute, getattr(original, attribute))
    ours.__module__ = "sqlite3"
    guards.replace_attribute(cls, name, ours)


def _judged(original: Any) -> Any:
    def method(self: Any, sql: Any, /, *args: Any) -> Any:
        # A class of str may not change what is looked at here: SQLite reads the same characters.
        if is_a(sql, str) and _TAKES_ADDRESSES in str.lower(sql):
            _refuse(f"{_TAKES_ADDRESSES}() takes addresses of machine code")
        return original(self, sql, *args)

    return method


def _refused(original: Any) -> Any:
    def method(*args: Any) -> Any:
        _refuse("setconfig() can enable unsafe features of SQLite")
        return original(*args)

    return method


def _refuse(why: str) -> None:
    if program.running.scope is not program.NO_SCOPE:  # with the policy on
        raise PermissionError(f"[BJ502] {why} and is not available")
