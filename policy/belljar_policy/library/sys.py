"""sys, for guests: what describes the interpreter, and the standard streams."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import _belljar_guards as guards

from . import streams
from .own_modules import own
from .program import running
from .traceback import traceback_of

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

api_version = sys.api_version
builtin_module_names = sys.builtin_module_names
abiflags = sys.abiflags
copyright = sys.copyright
getallocatedblocks = sys.getallocatedblocks
platlibdir = sys.platlibdir
dont_write_bytecode = True
executable = running.executable
flags = sys.flags
float_repr_style = sys.float_repr_style
getdefaultencoding = sys.getdefaultencoding
getfilesystemencodeerrors = sys.getfilesystemencodeerrors
getfilesystemencoding = sys.getfilesystemencoding
getrefcount = sys.getrefcount
implementation = SimpleNamespace(**vars(sys.implementation))
path = [""]  # imports do not go by it
prefix = base_prefix = exec_prefix = "/usr"
stdlib_module_names = sys.stdlib_module_names
thread_info = sys.thread_info
warnoptions: list[str] = []


_modules: dict[str, Any] = {}


def modules() -> dict[str, Any]:
    """The modules that the program has or could have imported, its own too, in a dict of its own:
    what it puts there, no import finds."""
    if running.absent_modules:
        running.start_over()
    for name, module in own.modules():
        _modules[name] = module
    for name, module in running.modules.items():
        if running.may_import(name):
            _modules.setdefault(name, module)
        elif _modules.get(name) is module:  # an earlier call of this session might
            del _modules[name]
    return _modules


def exc_info() -> tuple[Any, Any, Any]:
    """The exception that is being handled."""
    kind, error, _ = sys.exc_info()
    return kind, error, None if error is None else traceback_of(error)


def exception() -> Any:
    """The exception that is being handled, or None."""
    return sys.exc_info()[1]


_switch_interval = 0.005


def getswitchinterval() -> float:
    """What setswitchinterval() was last given. Threads take turns where they wait."""
    return _switch_interval


def setswitchinterval(interval: Any, /) -> None:
    """Changes nothing: threads take turns where they wait."""
    global _switch_interval
    _switch_interval = float(interval)


def is_finalizing() -> bool:
    """The interpreter is not shutting down."""
    return False


def argv() -> list[str]:
    """The program's name and its arguments. Only argparse and fileinput read it too."""
    return arguments


arguments = ["main.py"]

_INT_MAX = 2**31 - 1
# More than any memory holds. What the guards and compile() add to it is still an int of C.
_MAX_RECURSION = 2**29


def setrecursionlimit(limit: int, /) -> None:
    """sys.setrecursionlimit. Calls of Python functions nest as deeply as memory allows, those
    through C as the stack does (workers/zygote_process.cc), past which the worker ends."""
    if type(limit) is not int:
        raise TypeError("an integer is required")
    if limit > _INT_MAX:
        raise OverflowError("Python int too large to convert to C int")
    sys.setrecursionlimit(min(limit, _MAX_RECURSION))
    guards.fit_recursion_limit()  # of the running thread, whose stack may hold less


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


def set_argv(value: Any) -> None:
    """sys.argv = value, which argparse reads. Its contents are the program's already; of a class of
    the program's own the library would call methods."""
    global arguments
    if type(value) is not list or any(type(each) is not str for each in value):
        raise TypeError("[BJ502] sys.argv must be a plain list of str")
    arguments = sys.argv = value


def set_stdout(stream: Any) -> None:
    """sys.stdout = stream."""
    streams.replace("stdout", stream)


def set_stderr(stream: Any) -> None:
    """sys.stderr = stream."""
    streams.replace("stderr", stream)


def set_stdin(stream: Any) -> None:
    """sys.stdin = stream."""
    streams.replace("stdin", stream)
