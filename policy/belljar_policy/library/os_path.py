"""os.path, for guests, without the C functions of the module `posix`.

Later Python versions implement some functions in C, and such a function refers to its module.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable
from types import FunctionType
from typing import Any


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
