"""os.path, for guests: no function of it is one of the module `posix`.

Some are C code in later Pythons, and such a function knows the module that it belongs to.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable
from types import FunctionType
from typing import Any


def in_python(function: Any) -> Callable:
    """`function`, of one path; in Python, if it is not."""
    if type(function) is FunctionType:
        return function

    def call(path: Any) -> Any:
        return function(path)

    return call


normpath = in_python(os.path.normpath)
if hasattr(os.path, "splitroot"):  # from 3.12 on
    splitroot = in_python(os.path.splitroot)
