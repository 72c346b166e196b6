"""Audit hooks for libraries that are not reviewed function by function.

numpy, pandas and similar packages have hundreds of functions that open files, evaluate text or
unpickle, and new versions add more. CPython reports each of these actions to audit hooks (PEP 578),
whoever requests it and however deep in C, so all of them can be refused in one place. A function
that was overlooked fails closed, with an error that says what to do instead.

This is not a security boundary: memory corruption in such a library bypasses every hook. The kernel
jail is the boundary.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

_EVALUATING = frozenset({
    "__main__",  # a tool or test that runs a program; not the program's own frames
    "belljar_policy",  # library code that runs as the program's: unittest.mock
    "importlib._bootstrap",  # the body of an imported module
    "collections",  # namedtuple checks the names that it inserts
    "dataclasses",  # field names are checked in library/dataclasses.py
})  # fmt: skip
"""Modules that may execute generated code; others go through packages/."""
_OWN = ("belljar_policy.", "belljar_runner")

_NO_FILES = (
    "files are not available in this profile: combine it with filesystem, for example "
    "data-science+filesystem, which the operator of a server enables with "
    "SANDBOX_ENABLE_FILESYSTEM=true; or pass io.StringIO(text) or io.BytesIO(data), files in "
    "memory, which these functions accept too"
)
_NO_TEXT = "a library may not evaluate text here; write it as code of the program"
_NO_PICKLE = "pickled objects are not loaded, because they run code; use CSV, JSON or .npy arrays"
_NO_PROCESSES = "other processes are not available"
_NO_NATIVE = "loading native code is not allowed"
_NO_INTERPRETER = "libraries may not inspect the interpreter"
_NO_NETWORK = "this profile has no network"


class _Watch:
    """The program that is watched; none while the zygote starts."""

    guest_builtins: Any = None
    readable: tuple[str, ...] = ()


_watch = _Watch()


def _refuse(what: str) -> None:
    raise PermissionError(f"[BJ502] {what}")


def _judge_open(args: tuple[Any, ...]) -> None:
    """Allows reading modules, fonts and data files of packages."""
    path, _, flags = args
    reads = type(flags) is int and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) == 0
    if reads and type(path) in (str, bytes):
        real = os.path.normpath(os.fsdecode(path))
        if real.startswith(_watch.readable):
            return
    _refuse(_NO_FILES)


def _judge_exec(_: tuple[Any, ...]) -> None:
    frame = sys._getframe(2)  # the caller of exec() or eval()
    # A program can choose its own __name__.
    if frame.f_builtins is not _watch.guest_builtins:
        name = frame.f_globals.get("__name__")
        if type(name) is str and (name in _EVALUATING or name.startswith(_OWN)):
            return
    _refuse(_NO_TEXT)


# The addresses of C functions that libraries called by ctypes while they were loaded: they set the
# number of threads of BLAS before a computation. CPython reports every such call since 3.14.
_known_calls: set[Any] = set()


def _judge_call(args: tuple[Any, ...]) -> None:
    if args[0] not in _known_calls:
        _refuse(_NO_NATIVE)


def _always(what: str) -> Callable[[tuple[Any, ...]], None]:
    return lambda _: _refuse(what)


_CHECKS: dict[str, Callable[[tuple[Any, ...]], None]] = {
    "exec": _judge_exec,
    "ctypes.call_function": _judge_call,
    "pickle.find_class": _always(_NO_PICKLE),
    **dict.fromkeys(
        ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
         "os.forkpty", "os.kill", "os.killpg", "pty.spawn", "signal.pthread_kill"),
        _always(_NO_PROCESSES),
    ),
    **dict.fromkeys(
        ("gc.get_objects", "gc.get_referents", "gc.get_referrers", "sys._current_frames",
         "sys._current_exceptions", "sys.addaudithook", "resource.prlimit", "resource.setrlimit",
         "syslog.openlog", "syslog.syslog"),
        _always(_NO_INTERPRETER),
    ),
}  # fmt: skip
_PREFIXES: dict[str, Callable[[tuple[Any, ...]], None]] = {"ctypes": _always(_NO_NATIVE)}
"""Checks by the first part of an event's name."""

# File operations other than open(): libraries need none of them in profiles without files.
_FILE_EVENTS = (
    "fcntl.fcntl", "fcntl.flock", "fcntl.ioctl", "fcntl.lockf", "mmap.__new__", "os.chdir",
    "os.chflags", "os.chmod", "os.chown", "os.link", "os.lockf", "os.mkdir", "os.remove",
    "os.removexattr", "os.rename", "os.rmdir", "os.setxattr", "os.symlink", "os.truncate",
    "os.utime", "shutil.chown", "shutil.copyfile", "shutil.copytree", "shutil.make_archive",
    "shutil.move", "shutil.rmtree", "shutil.unpack_archive", "sqlite3.connect", "tempfile.mkdtemp",
    "tempfile.mkstemp",
)  # fmt: skip


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watch.guest_builtins is not None:
        check = _CHECKS.get(event) or _PREFIXES.get(event.partition(".")[0])
        if check is not None:
            check(args)
    elif event == "ctypes.call_function":
        _known_calls.add(args[0])


def add_hook() -> None:
    """Zygote, once, before packages are loaded: an audit hook cannot be removed."""
    sys.addaudithook(_hook)


def install(*, has_files: bool, has_network: bool, readable: Iterable[str]) -> None:
    """Zygote, once, after add_hook(). `readable`: folders whose files libraries may read even if
    the profile has no files.
    """
    _watch.readable = tuple(f"{os.path.normpath(folder)}/" for folder in readable)
    if not has_files:
        _CHECKS["open"] = _judge_open
        _CHECKS.update(dict.fromkeys(_FILE_EVENTS, _always(_NO_FILES)))
    if not has_network:
        for prefix in ("ftplib", "http", "imaplib", "poplib", "smtplib", "socket", "urllib"):
            _PREFIXES[prefix] = _always(_NO_NETWORK)
    if "ctypes" in sys.modules:  # ctypes.cast() calls a function, which runs none
        _known_calls.add(getattr(sys.modules["_ctypes"], "_cast_addr", None))


def need_files() -> None:
    """Raises what opening a file would raise, for functions that first search for the file."""
    if _watch.guest_builtins is not None and "open" in _CHECKS:
        _refuse(_NO_FILES)


def watches() -> bool:
    """Whether a program is running."""
    return _watch.guest_builtins is not None


def begin(guest_builtins: dict[str, Any]) -> None:
    """A program starts; its frames have these builtins."""
    _watch.guest_builtins = guest_builtins


def end() -> None:
    """Ends a rehearsal, whose program is the host's own."""
    _watch.guest_builtins = None
