"""sys, for guests: what describes the interpreter, and the standard streams."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

from . import main_module
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


modules = main_module.modules
api_version = sys.api_version
builtin_module_names = sys.builtin_module_names
copyright = sys.copyright
dont_write_bytecode = True
executable = ""  # there is no other program
flags = sys.flags
float_repr_style = sys.float_repr_style
getdefaultencoding = sys.getdefaultencoding
getfilesystemencoding = sys.getfilesystemencoding
getrefcount = sys.getrefcount
implementation = SimpleNamespace(**vars(sys.implementation))
path = [""]  # imports do not go by it
prefix = base_prefix = exec_prefix = "/usr"
stdlib_module_names = sys.stdlib_module_names
thread_info = sys.thread_info
warnoptions: list[str] = []


def exc_info() -> tuple[Any, Any, None]:
    """The exception that is being handled, without its traceback."""
    kind, error, _ = sys.exc_info()
    return kind, error, None


def is_finalizing() -> bool:
    """The interpreter is not shutting down."""
    return False


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
