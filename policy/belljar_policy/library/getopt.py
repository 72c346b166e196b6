"""getopt, for guests: the library's own reads the program's list of words, and an environment of
ours instead of the host's."""

from __future__ import annotations

import getopt as library
from types import SimpleNamespace
from typing import Any

from . import os


def reduce(has_files: bool) -> None:
    """Before the first use: POSIXLY_CORRECT is looked up in the program's environment."""
    changed: Any = library
    changed.os = SimpleNamespace(environ=os.environ)
