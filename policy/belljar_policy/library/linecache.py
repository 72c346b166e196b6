"""linecache, for guests: lines of the program's own source, and no files."""

from __future__ import annotations

from typing import Any

from .program import running


def getlines(filename: Any, module_globals: Any = None) -> list[str]:
    """The lines of the program; none of other files."""
    text = running.text_of(filename) if type(filename) is str else None
    return [] if text is None else text.splitlines(keepends=True)


def getline(filename: Any, lineno: int, module_globals: Any = None) -> str:
    """One line, with its end; "" if there is none."""
    lines = getlines(filename)
    return lines[lineno - 1] if 1 <= lineno <= len(lines) else ""


def checkcache(filename: Any = None) -> None:
    """Nothing to do: nothing is cached."""


def clearcache() -> None:
    """Nothing to do: nothing is cached."""
