"""asyncio's log messages go to stderr, as with an unconfigured logging module.

The library's traceback module is not used for whole exceptions: it trusts the tracebacks that
objects claim (a group's `exceptions` may be anything), and shows lines of the files they name.
"""

from __future__ import annotations

import sys
import traceback
import types
from typing import Any

from ..objects import is_a

# The real attributes, not overrides in a class.
_cause_of = BaseException.__dict__["__cause__"].__get__
_context_of = BaseException.__dict__["__context__"].__get__
_hides_context = BaseException.__dict__["__suppress_context__"].__get__
_traceback_of = BaseException.__dict__["__traceback__"].__get__

_MAX_CHAIN = 20
_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"


def write_error(message: str, error: Any = None) -> None:
    """Writes `message` and, if `error` is an exception, its traceback and those of its causes."""
    text = f"{message}\n"
    if error is not None and is_a(error, BaseException):
        text += _describe(error)
    if sys.stderr is not None:
        sys.stderr.write(text)


def _describe(error: BaseException) -> str:
    parts: list[str] = []
    current: BaseException | None = error
    for _ in range(_MAX_CHAIN):
        if current is None:
            break
        parts.append(_describe_one(current))
        cause = _cause_of(current)
        if cause is not None:
            parts.append(_CAUSE)
        elif not _hides_context(current) and _context_of(current) is not None:
            cause = _context_of(current)
            parts.append(_CONTEXT)
        current = cause
    return "".join(reversed(parts))


def _describe_one(error: BaseException) -> str:
    trace = _after_library(_traceback_of(error))
    text = ""
    if trace is not None:
        text = "Traceback (most recent call last):\n" + "".join(traceback.format_tb(trace))
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in ("__main__", "builtins"):
        name = f"{kind.__module__}.{name}"
    try:
        words = str(error)
    except Exception:
        words = "<exception str() failed>"
    return f"{text}{name}: {words}\n" if words else f"{text}{name}\n"


def _after_library(trace: types.TracebackType | None) -> types.TracebackType | None:
    """`trace` without the leading frames of the event loop."""
    while trace is not None and _is_machinery(trace.tb_frame.f_globals.get("__name__")):
        trace = trace.tb_next
    return trace


def _is_machinery(module: Any) -> bool:
    return type(module) is str and module.startswith(("asyncio.", "belljar_policy."))
