"""getpass, for guests: the password is a line of standard input, as there is no terminal."""

from __future__ import annotations

import sys
from typing import Any

from .builtins import input


class GetPassWarning(UserWarning):
    """Never given: there is no terminal that could show the password."""


def getpass(prompt: str = "Password: ", stream: Any = None) -> str:
    """Reads a line; the prompt goes to stderr, as it does without a terminal."""
    out = sys.stderr if stream is None else stream
    out.write(str(prompt))
    out.flush()
    return input()


def getuser() -> str:
    """The name of the sandbox's only user."""
    return "user"
