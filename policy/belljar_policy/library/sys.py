"""sys, for guests: what describes the interpreter, and the standard streams."""

from __future__ import annotations

import sys
from typing import Any

import _belljar_guards as guards

from .streams import of_interpreter

version = sys.version
version_info = sys.version_info
maxsize = sys.maxsize
maxunicode = sys.maxunicode
float_info = sys.float_info
int_info = sys.int_info
hash_info = sys.hash_info
byteorder = sys.byteorder
platform = sys.platform
hexversion = sys.hexversion
getrecursionlimit = sys.getrecursionlimit
getsizeof = sys.getsizeof
intern = sys.intern
get_int_max_str_digits = sys.get_int_max_str_digits
set_int_max_str_digits = sys.set_int_max_str_digits


def argv() -> list[str]:
    """Only the program's name: programs have no arguments."""
    return _ARGV


_ARGV = ["main.py"]

# A C stack of 8 MiB holds about this many of the deepest calls that go through C.
_MAX_RECURSION = 20_000


def setrecursionlimit(limit: int, /) -> None:
    """sys.setrecursionlimit, limited by the stack size."""
    if type(limit) is not int:
        raise TypeError("an integer is required")
    sys.setrecursionlimit(min(limit, _MAX_RECURSION))
    guards.fit_recursion_limit()  # of the running thread, whose stack may hold less


def exit(status: Any = None, /) -> None:
    """sys.exit."""
    raise SystemExit(status)


def stdout() -> Any:
    """sys.stdout, as it is now."""
    return of_interpreter("stdout")


def stderr() -> Any:
    """sys.stderr, as it is now."""
    return of_interpreter("stderr")


def stdin() -> Any:
    """sys.stdin, as it is now."""
    return of_interpreter("stdin")
