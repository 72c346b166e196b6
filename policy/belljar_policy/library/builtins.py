"""Builtins that are replaced in the sandbox."""

from __future__ import annotations

import sys
from typing import Any


def exit(code: Any = None, /) -> None:
    """exit() and quit() of the interactive interpreter."""
    raise SystemExit(code)


def input(prompt: Any = "", /) -> str:
    """input(): reads a line of the standard input passed with the call."""
    text = str(prompt)
    if text:
        sys.stdout.write(text)
    line = "" if sys.stdin is None else sys.stdin.readline()
    if not line:
        raise EOFError("input() found no more lines: pass the program's input as stdin")
    return line[:-1] if line[-1] == "\n" else line
