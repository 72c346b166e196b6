"""What libraries do in a program's name, where no review covers them function by function.

numpy, pandas and their like hold hundreds of functions that open a file, evaluate a text or
unpickle, and a new version brings more. CPython tells audit hooks (PEP 578) of each of these acts,
whoever asks for it and however deep in C: one place to refuse them all. So a function that nobody
thought of fails closed, with an error that says what to do instead.

Not a wall of its own: memory that such a library corrupts is past any hook. The kernel jail is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

_EVALUATING = frozenset({
    "__main__",  # a tool or test that runs a program; not the program's own frames
    "importlib._bootstrap",  # the body of a module that is imported
    "collections",  # namedtuple: checks the names that it writes
    "dataclasses",  # its field names are checked: library/dataclasses.py
})  # fmt: skip
"""Who may run code that it made of text; others go through packages/."""
_OWN = ("belljar_policy.", "belljar_runner")

_NO_FILES = (
    "files are not available in this profile: join it with filesystem, as in "
    "data-science+filesystem; or take io.StringIO(text) and io.BytesIO(data), files in memory, "
    "which these functions take too"
)
_NO_TEXT = "a library may not evaluate text here; write it out as code of the program"
_NO_PICKLE = "pickled objects are not loaded here: they run code; use CSV, JSON or .npy arrays"
_NO_PROCESSES = "there are no other processes here"
_NO_NATIVE = "native code is not loaded here"
_NO_INTERPRETER = "libraries do not look into the interpreter here"
_NO_NETWORK = "there is no network in this profile"


class _Watch:
    """Whose acts are judged: nobody's while a zygote prepares."""

    guest_builtins: Any = None
    readable: tuple[str, ...] = ()


_watch = _Watch()


def _refuse(what: str) -> None:
    raise PermissionError(f"[BJ502] {what}")


def _judge_open(args: tuple[Any, ...]) -> None:
    """What is imported, fonts and data that come with a package."""
    path, _, flags = args
    reads = type(flags) is int and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) == 0
    if reads and type(path) in (str, bytes):
        real = os.path.normpath(os.fsdecode(path))
        if real.startswith(_watch.readable):
            return
    _refuse(_NO_FILES)


def _judge_exec(_: tuple[Any, ...]) -> None:
    frame = sys._getframe(2)  # of whoever called exec() or eval()
    # A program may call itself what it likes.
    if frame.f_builtins is not _watch.guest_builtins:
        name = frame.f_globals.get("__name__")
        if type(name) is str and (name in _EVALUATING or name.startswith(_OWN)):
            return
    _refuse(_NO_TEXT)


def _always(what: str) -> Callable[[tuple[Any, ...]], None]:
    return lambda _: _refuse(what)


_CHECKS: dict[str, Callable[[tuple[Any, ...]], None]] = {
    "exec": _judge_exec,
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
"""By the first part of an event's name."""

# Acts on files that are no open(): none of them is a library's need where there are no files.
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


def install(*, has_files: bool, has_network: bool, readable: Iterable[str]) -> None:
    """Zygote, once: an audit hook cannot be taken out again. `readable`: folders whose files
    libraries may read where the profile has no files.
    """
    _watch.readable = tuple(f"{os.path.normpath(folder)}/" for folder in readable)
    if not has_files:
        _CHECKS["open"] = _judge_open
        _CHECKS.update(dict.fromkeys(_FILE_EVENTS, _always(_NO_FILES)))
    if not has_network:
        for prefix in ("ftplib", "http", "imaplib", "poplib", "smtplib", "socket", "urllib"):
            _PREFIXES[prefix] = _always(_NO_NETWORK)
    sys.addaudithook(_hook)


def need_files() -> None:
    """What opening any file would raise here, for those who look for it first and find none."""
    if _watch.guest_builtins is not None and "open" in _CHECKS:
        _refuse(_NO_FILES)


def watches() -> bool:
    """A program runs."""
    return _watch.guest_builtins is not None


def begin(guest_builtins: dict[str, Any]) -> None:
    """From here on a program runs; its frames have these builtins."""
    _watch.guest_builtins = guest_builtins


def end() -> None:
    """The program was the host's own, a rehearsal."""
    _watch.guest_builtins = None
