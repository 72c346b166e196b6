"""sys, for guests: what describes the interpreter, and the standard streams."""

from __future__ import annotations

import sys
from typing import Any

from . import streams

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
    """The program's name and its arguments. It may change the list: nothing else reads it."""
    return arguments


arguments = ["main.py"]

# As many nested calls as the C stack holds if each goes through C (engine/inside/stack.h), within
# the default memory limit.
MAX_RECURSION = 100_000


def setrecursionlimit(limit: int, /) -> None:
    """sys.setrecursionlimit, limited by the stack size."""
    if type(limit) is not int:
        raise TypeError("an integer is required")
    sys.setrecursionlimit(min(limit, MAX_RECURSION))


def exit(status: Any = None, /) -> None:
    """sys.exit."""
    raise SystemExit(status)


def stdout() -> Any:
    """sys.stdout, as it is now."""
    return streams.of_interpreter("stdout")


def stderr() -> Any:
    """sys.stderr, as it is now."""
    return streams.of_interpreter("stderr")


def stdin() -> Any:
    """sys.stdin, as it is now."""
    return streams.of_interpreter("stdin")


def __stdout__() -> Any:
    """sys.stdout, as it was at first."""
    return streams.first("stdout")


def __stderr__() -> Any:
    """sys.stderr, as it was at first."""
    return streams.first("stderr")


def __stdin__() -> Any:
    """sys.stdin, as it was at first."""
    return streams.first("stdin")


def set_stdout(stream: Any) -> None:
    """sys.stdout = stream."""
    streams.replace("stdout", stream)


def set_stderr(stream: Any) -> None:
    """sys.stderr = stream."""
    streams.replace("stderr", stream)


def set_stdin(stream: Any) -> None:
    """sys.stdin = stream."""
    streams.replace("stdin", stream)
