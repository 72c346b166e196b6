"""Changes to pathlib: methods check the type of `self`, and no class leads to a real module.

Without files, a profile exports the pure paths only, which are text: none of their methods asks the
operating system, and none leads to a class that does.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from .objects import check_packages
from .os_path import in_python


def reduce(has_files: bool) -> None:
    """Before the first use. With files, files.py has done this in the zygote."""
    if not has_files:
        reduce_classes()


def reduce_classes() -> None:
    """Since 3.13, pathlib is a package."""
    library: Any = importlib.import_module("pathlib")
    _reduce_parsers(sys.modules.get(library.PurePath.__module__))
    check_packages(["pathlib"])


# The names that paths use: pathlib's ParserBase, and three names that only these two have.
_OF_PARSERS = (
    "altsep", "isabs", "isreserved", "join", "normcase", "sep", "split", "splitdrive", "splitext",
    "splitroot",
)  # fmt: skip


def _reduce_parsers(pathlib: Any) -> None:
    # Since 3.13 a path class has the module that parses paths in a public attribute.
    if not hasattr(pathlib.PurePath, "parser"):
        return
    classes = [value for value in vars(pathlib).values() if isinstance(value, type)]
    for name in ("posixpath", "ntpath"):
        module = sys.modules[name]
        names = {
            each: staticmethod(in_python(value)) if callable(value) else value
            for each, value in vars(module).items()
            if each in _OF_PARSERS
        }
        parser = type(name, (), {"__slots__": (), "__module__": "pathlib", **names})()
        setattr(pathlib, name, parser)  # they are compared with what is in the classes
        for cls in classes:
            if vars(cls).get("parser") is module:
                cls.parser = parser
    if "ntpath" in vars(pathlib.PureWindowsPath):  # 3.14 imports it into the class
        del pathlib.PureWindowsPath.ntpath
        pathlib.PureWindowsPath.is_reserved = _is_reserved


def _is_reserved(self: Any) -> bool:
    """PurePath.is_reserved(), which compares the parser with the real module."""
    return self.parser.isreserved(self)


_is_reserved.__name__, _is_reserved.__qualname__ = "is_reserved", "PurePath.is_reserved"
_is_reserved.__module__ = "pathlib"
