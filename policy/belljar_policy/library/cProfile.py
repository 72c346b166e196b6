"""cProfile, for guests: how often functions were called, and how long they took, as tables.

Our own, since the library's hands out code objects. It keeps names and numbers only. A function of
ours counts as a built-in one, as it mostly is in CPython: what it calls, the program's functions
apart, is part of it. So are the hooks of the code that calls them.
"""

from __future__ import annotations

import sys
import time
from types import BuiltinFunctionType, CodeType, FrameType, MethodDescriptorType
from typing import Any

from .. import tables
from . import pstats, scopes
from .objects import dict_of, its_own_only, mro_of, only_for_its_own, present_as
from .program import running

_OURS = "belljar_"
_LIBRARY = f"{__package__}."
_ORIGIN = {"scheduler": "time", "scopes": "builtins"}
"""The library's module, of functions that are in a file of another name."""
_TOOLS = {f"{_LIBRARY}objects"}
_name_of = type.__dict__["__name__"].__get__
_clock = time.perf_counter

Key = tuple[str, int, str]


class _Calls:
    """The counts of a function, of all its calls or of those by one caller."""

    __slots__ = ("callers", "depth", "inside", "number", "recursive", "total")

    def __init__(self) -> None:
        self.number = self.recursive = self.depth = 0
        self.inside = self.total = 0.0
        self.callers: dict[Key, _Calls] = {}

    def end(self, taken: float, inside: float) -> None:
        self.depth -= 1
        self.number += 1
        self.inside += inside
        if self.depth == 0:
            self.total += taken
        else:
            self.recursive += 1

    def row(self) -> tuple[int, int, float, float]:
        return self.number, self.number - self.recursive, self.inside, self.total


class _Kind:
    """How code of Belljar's own is counted."""

    __slots__ = ()


_INNER = _Kind()
"""Its time is its caller's."""
_WRAPPER = _Kind()
"""Likewise, and what it calls of ours is what the program called."""
_OWN = _Kind()
"""A function that counts as a built-in one, if it is not called by another of ours."""


class _Call:
    """A call that has not ended."""

    __slots__ = ("began", "below", "by", "is_ours", "key")

    def __init__(self, key: Key | None, by: _Calls | None, is_ours: bool) -> None:
        self.key = key  # None: its time is its caller's
        self.by = by
        self.is_ours = is_ours  # what it calls is hidden
        self.below = 0.0
        self.began = _clock()


class _Recorder:
    """What sys.setprofile() calls, in one thread."""

    __slots__ = ("_builtins", "_hooks", "_kinds", "_stack", "_subcalls", "calls")

    def __init__(self, calls: dict[Key, _Calls], subcalls: bool, builtins: bool) -> None:
        self.calls = calls
        self._subcalls = subcalls
        self._builtins = builtins
        self._stack: list[_Call] = []
        self._kinds: dict[CodeType, _Kind | None] = {}
        self._hooks = [running.builtins[name] for name in tables.HOOKS if name in running.builtins]

    def see(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "call":
            self._begin_function(frame)
        elif event == "c_call":
            shows = self._builtins and type(arg) is BuiltinFunctionType and not self._is_in_ours()
            if shows and not any(arg is hook for hook in self._hooks):
                self._begin(_key_of_builtin(arg), True)
            else:
                self._begin(None, self._is_in_ours())
        elif self._stack:
            self._end()

    def flush(self) -> None:
        while self._stack:
            self._end()

    def _is_in_ours(self) -> bool:
        return bool(self._stack) and self._stack[-1].is_ours

    def _begin_function(self, frame: FrameType) -> None:
        code = frame.f_code
        key = code.co_filename, code.co_firstlineno, code.co_name
        if frame.f_builtins is running.builtins and not _is_of_library(frame.f_globals):
            self._begin(key, False)
        elif self._is_in_ours():
            self._begin(None, True)
        else:
            kind = self._kinds.get(code, self)
            if kind is self:
                kind = self._kinds[code] = _kind_of(code, frame.f_globals)
            if kind is None:
                self._begin(key, False)
            elif kind is _OWN and self._builtins:
                name = _name_of_ours(code, frame.f_globals["__name__"])
                self._begin(("~", 0, name), True)
            else:
                self._begin(None, kind is not _WRAPPER)

    def _begin(self, key: Key | None, is_ours: bool) -> None:
        by = None
        if key is not None:
            found = self.calls.get(key)
            if found is None:
                found = self.calls[key] = _Calls()
            found.depth += 1
            caller = self._caller() if self._subcalls else None
            if caller is not None:
                by = found.callers.get(caller)
                if by is None:
                    by = found.callers[caller] = _Calls()
                by.depth += 1
        self._stack.append(_Call(key, by, is_ours))

    def _caller(self) -> Key | None:
        for call in reversed(self._stack):
            if call.key is not None:
                return call.key
        return None

    def _end(self) -> None:
        call = self._stack.pop()
        taken = _clock() - call.began
        if call.key is None:
            if self._stack:
                self._stack[-1].below += call.below
            return
        if self._stack:
            self._stack[-1].below += taken
        inside = taken - call.below
        self.calls[call.key].end(taken, inside)
        if call.by is not None:
            call.by.end(taken, inside)


def _is_of_library(names: dict[str, Any]) -> bool:
    return any(names is scope for scope in running.library_scopes)


def _key_of_builtin(function: Any) -> Key:
    name = function.__name__
    if type(function.__module__) is str:
        return "~", 0, f"<built-in method {function.__module__}.{name}>"
    for cls in mro_of(type(function.__self__)):
        if type(dict_of(cls).get(name)) is MethodDescriptorType:
            return "~", 0, f"<method '{name}' of '{_full_name(cls)}' objects>"
    return "~", 0, f"<built-in method {name}>"


def _full_name(cls: type) -> str:
    module = dict_of(cls).get("__module__")
    is_given = type(module) is str and module != "builtins"
    return f"{module}.{_name_of(cls)}" if is_given else _name_of(cls)


def _kind_of(code: CodeType, names: dict[str, Any]) -> _Kind | None:
    """None: of the library, or of a package."""
    module = names.get("__name__")
    if type(module) is not str or not module.startswith(_OURS):
        return None
    if code in _WRAPPERS:
        return _WRAPPER
    return _OWN if module.startswith(_LIBRARY) and module not in _TOOLS else _INNER


def _name_of_ours(code: CodeType, module: str) -> str:
    place = module[len(_LIBRARY) :]
    place = _ORIGIN.get(place, place.replace("_", "."))
    owner, _, name = code.co_qualname.rpartition(".")
    if place == "cProfile":
        return f"<method '{name}' of '_lsprof.Profiler' objects>"
    if owner and "<" not in owner:
        return f"<method '{name}' of '{place}.{owner}' objects>"
    return f"<built-in method {place}.{name}>"


@its_own_only
class Profile:
    """Profile(subcalls=True, builtins=True): a profile of the calls between enable() and
    disable(), in this thread."""

    __slots__ = ("_builtins", "_calls", "_recorder", "_subcalls", "stats")

    def __init__(
        self, timer: Any = None, timeunit: Any = 0.0, subcalls: Any = True, builtins: Any = True
    ) -> None:
        if timer is not None:
            raise PermissionError("[BJ502] Profile() takes no timer here: it has one")
        self._calls: dict[Key, _Calls] = {}
        self._recorder: _Recorder | None = None
        self._subcalls, self._builtins = bool(subcalls), bool(builtins)
        self.stats: Any = {}

    def enable(self, subcalls: Any = True, builtins: Any = True) -> None:
        """Starts collecting."""
        shows = self._builtins and bool(builtins)
        self._recorder = _Recorder(self._calls, self._subcalls and bool(subcalls), shows)
        sys.setprofile(self._recorder.see)

    def disable(self) -> None:
        """Stops collecting."""
        sys.setprofile(None)
        if self._recorder is not None:
            self._recorder.flush()
            self._recorder = None

    def clear(self) -> None:
        """Forgets what was collected."""
        self._calls.clear()
        if self._recorder is not None:
            self._recorder = None
            Profile.enable(self)

    def create_stats(self) -> None:
        """Stops collecting, and puts what there is into `stats`."""
        Profile.disable(self)
        Profile.snapshot_stats(self)

    def snapshot_stats(self) -> None:
        """Puts what has been collected so far into `stats`."""
        self.stats = {}
        for key, calls in self._calls.items():
            number, primitive, inside, total = calls.row()
            if number:
                callers = {by: each.row() for by, each in calls.callers.items() if each.number}
                self.stats[key] = (primitive, number, inside, total, callers)

    def print_stats(self, sort: Any = -1) -> None:
        """Writes a table."""
        keys = sort if type(sort) is tuple else (sort,)
        pstats.Stats(self).strip_dirs().sort_stats(*keys).print_stats()

    def dump_stats(self, file: Any) -> None:
        """Refused: pstats reads no files."""
        pstats.refuse_files()

    def run(self, cmd: Any) -> Any:
        """Runs statements in the program's globals."""
        names = scopes.view_of(running.scope)
        return Profile.runctx(self, cmd, names, names)

    def runctx(self, cmd: Any, globals: Any, locals: Any) -> Any:  # noqa: A002
        """Runs statements."""
        Profile.enable(self)
        try:
            scopes.exec(cmd, globals, None if locals is globals else locals)
        finally:
            Profile.disable(self)
        return self

    def runcall(self, func: Any, /, *args: Any, **kw: Any) -> Any:
        """Calls a function."""
        Profile.enable(self)
        try:
            return func(*args, **kw)
        finally:
            Profile.disable(self)

    def __enter__(self) -> Any:
        Profile.enable(self)
        return self

    def __exit__(self, *_: Any) -> None:
        Profile.disable(self)


def run(statement: Any, filename: Any = None, sort: Any = -1) -> None:
    """Runs statements in the program's globals, and prints a table."""
    _utility("run", filename, sort, statement)


def runctx(
    statement: Any,
    globals: Any,  # noqa: A002
    locals: Any,  # noqa: A002
    filename: Any = None,
    sort: Any = -1,
) -> None:
    """Runs statements, and prints a table."""
    _utility("runctx", filename, sort, statement, globals, locals)


def _utility(name: str, filename: Any, sort: Any, *args: Any) -> None:
    if filename is not None:
        pstats.refuse_files()
    made = Profile()
    try:
        getattr(Profile, name)(made, *args)
    except SystemExit:
        pass
    finally:
        Profile.print_stats(made, sort)


class _Sample:
    def method(self) -> None:
        """Made to be wrapped."""


only_for_its_own(_Sample, "method")
# The functions through which the program's calls go: all methods that are wrapped share one code.
_WRAPPERS = frozenset(
    each.__code__
    for each in (_Sample.method, run, runctx, _utility)  # type: ignore[attr-defined]
)
present_as("cProfile", globals())
