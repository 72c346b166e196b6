"""os.path, for guests, without the C functions of the module `posix`.

Later Python versions implement some functions in C, and such a function refers to its module.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .os import environ


def in_python(function: Any) -> Callable:
    """`function`, which takes one path, wrapped in Python if it is a C function."""
    if type(function) is FunctionType:
        return function

    def call(path: Any) -> Any:
        return function(path)

    return call


normpath = in_python(os.path.normpath)
if hasattr(os.path, "splitroot"):  # from 3.12 on
    splitroot = in_python(os.path.splitroot)


def expandvars(path: Any) -> Any:
    """os.path.expandvars, with the environment that the program sees."""
    given = os.fspath(path)
    is_bytes = isinstance(given, bytes)
    text = os.fsdecode(given) if is_bytes else str(given)

    def value(match: re.Match[str]) -> str:
        found = environ.get(match[1] or match[2])
        return found if type(found) is str else match[0]

    shown = re.sub(r"\$(?:(\w+)|\{([^}]*)\})", value, text, flags=re.ASCII)
    return os.fsencode(shown) if is_bytes else shown
