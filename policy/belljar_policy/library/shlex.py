"""shlex, for guests: text in, words out; `source`, which opens files, raises without files."""

from __future__ import annotations

import shlex
from typing import Any

from .objects import check_classes_of, refuses


def reduce(has_files: bool) -> None:
    """Before the first use: methods check the type of `self`."""
    library: Any = shlex
    check_classes_of(library)
    if not has_files:
        library.shlex.sourcehook = refuses("shlex.sourcehook", "pass the text itself")
