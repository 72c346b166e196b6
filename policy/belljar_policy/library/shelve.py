"""shelve, for guests with files: the library's own, over dbm.dumb and our pickle.

dbm.dumb is Python: the others read files in C that trusts them. Since no pickle is read
(library/pickle.py), a shelf gives back what the same run has put into it.
"""

from __future__ import annotations

import importlib.util
import io
import os
from typing import Any

from . import pickle
from .alone import load, stand_in
from .objects import check_classes_of

# Not the package itself, which loads the others.
_found: Any = importlib.util.find_spec("dbm")
_package = stand_in("dbm", __path__=list(_found.submodule_search_locations))
_dumb: Any = load("dbm.dumb", {"dbm": _package})
_library: Any = load("shelve", {"pickle": stand_in("pickle", **vars(pickle))})

Shelf = _library.Shelf
DbfilenameShelf = _library.DbfilenameShelf


class _Calls:
    """What a database calls of `io` and `os`, which it has as attributes."""

    __slots__ = ()
    chmod = staticmethod(os.chmod)
    fsencode = staticmethod(os.fsencode)
    open = staticmethod(io.open)
    rename = staticmethod(os.rename)
    unlink = staticmethod(os.unlink)


def _init(
    self: Any, filename: Any, flag: Any = "c", protocol: Any = None, writeback: Any = False
) -> None:
    if flag not in ("r", "w", "c", "n"):
        raise ValueError("Flag must be one of 'r', 'w', 'c', or 'n'")
    # Not by open(), which changes the process's umask to read it.
    Shelf.__init__(self, _dumb._Database(filename, 0o644, flag=flag), protocol, writeback)


_dumb._Database._os = _dumb._Database._io = _Calls()
_init.__name__, _init.__qualname__ = "__init__", "DbfilenameShelf.__init__"
_init.__module__ = "shelve"
DbfilenameShelf.__init__ = _init
check_classes_of(_dumb)
check_classes_of(_library)


def open(  # noqa: A001
    filename: Any, flag: Any = "c", protocol: Any = None, writeback: Any = False
) -> Any:
    """A persistent dictionary in files of that name."""
    return DbfilenameShelf(filename, flag, protocol, writeback)
