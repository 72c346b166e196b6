"""atexit, for guests: functions that are called when the program has ended, however it ended."""

from __future__ import annotations

from typing import Any

from . import traceback
from .program import running

_registered: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = []


def register(func: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls `func` at the end of the program, the last registered first."""
    if not callable(func):
        raise TypeError("the first argument must be callable")
    running.has_end = True
    _registered.append((func, args, kwargs))
    return func


def unregister(func: Any, /) -> None:
    """Forgets the function."""
    _registered[:] = [each for each in _registered if each[0] is not func and each[0] != func]


def run() -> None:
    """Calls the functions. An exception is shown, and the next one is called."""
    while _registered:
        func, args, kwargs = _registered.pop()
        try:
            func(*args, **kwargs)
        except SystemExit:
            pass
        except Exception:
            traceback.print_exc()
