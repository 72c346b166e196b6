"""timeit, for guests: text is checked and compiled like the program."""

from __future__ import annotations

import gc
import itertools
import re
import time
from collections.abc import Callable
from typing import Any

import _belljar_guards as guards

from . import traceback
from .objects import its_own_only
from .program import compile_text, running
from .scopes import namespace

default_timer = time.perf_counter
default_number = 1_000_000
default_repeat = 5

_FILENAME = "<timeit-src>"
# Not needed here: text sees the program's globals. There is no module of that name.
_FROM_MAIN = r"(?m)^([ \t]*)from __main__ import [\w, \t]+$"


def _block(code: Any, call: str, depth: int) -> str:
    """`code`, or a call if it is callable, as an indented block."""
    text = call if callable(code) else code
    if type(text) is not str:
        raise ValueError("it is neither a string nor callable")
    lines = re.sub(_FROM_MAIN, r"\1pass", text).split("\n")
    return "\n".join(" " * depth + line for line in lines)


@its_own_only
class Timer:
    """timeit.Timer. Without `globals`, text sees the program's own."""

    __slots__ = ("_inner",)

    def __init__(
        self,
        stmt: Any = "pass",
        setup: Any = "pass",
        timer: Any = default_timer,
        globals: Any = None,  # noqa: A002 (the library's name)
    ) -> None:
        # Each is compiled alone first: an open bracket in one could extend into the other.
        for what, code in (("stmt", stmt), ("setup", setup)):
            if type(code) is str:
                compile_text(f"def inner():\n{_block(code, '', 1)}\n pass\n", _FILENAME)
            elif not callable(code):
                raise ValueError(f"{what} is neither a string nor callable")
        text = (
            "def inner(_it, _timer, _stmt, _setup):\n"
            f"{_block(setup, '_setup()', 1)}\n"
            " _t0 = _timer()\n"
            " for _i in _it:\n"
            f"{_block(stmt, '_stmt()', 2)}\n"
            "  pass\n"
            " _t1 = _timer()\n"
            " return _t1 - _t0\n"
        )
        names = namespace(running.scope if globals is None else globals)
        guards.run_text(compile_text(text, _FILENAME), names, names)
        inner = names["inner"]
        self._inner: Callable = lambda it: inner(it, timer, stmt, setup)

    def timeit(self, number: int = default_number) -> float:
        """Seconds that `number` executions take."""
        collected = gc.isenabled()
        gc.disable()
        try:
            return self._inner(itertools.repeat(None, number))
        finally:
            if collected:
                gc.enable()

    def repeat(self, repeat: int = default_repeat, number: int = default_number) -> list[float]:
        """timeit() several times."""
        return [Timer.timeit(self, number) for _ in range(repeat)]

    def autorange(self, callback: Any = None) -> tuple[int, float]:
        """How many executions take at least 0.2 s, and how long they took."""
        scale = 1
        while True:
            for factor in (1, 2, 5):
                number = scale * factor
                taken = Timer.timeit(self, number)
                if callback:
                    callback(number, taken)
                if taken >= 0.2:
                    return number, taken
            scale *= 10

    def print_exc(self, file: Any = None) -> None:
        """Writes the current exception."""
        traceback.print_exc(file=file)


def timeit(
    stmt: Any = "pass",
    setup: Any = "pass",
    timer: Any = default_timer,
    number: int = default_number,
    globals: Any = None,  # noqa: A002 (the library's name)
) -> float:
    """Seconds that `number` executions of `stmt` take."""
    return Timer(stmt, setup, timer, globals).timeit(number)


def repeat(
    stmt: Any = "pass",
    setup: Any = "pass",
    timer: Any = default_timer,
    repeat: int = default_repeat,
    number: int = default_number,
    globals: Any = None,  # noqa: A002 (the library's name)
) -> list[float]:
    """timeit() several times."""
    return Timer(stmt, setup, timer, globals).repeat(repeat, number)
