"""tokenize, for guests: tokens of text that the program reads; nothing is opened."""

from __future__ import annotations

import tokenize as library
from typing import Any

from .objects import check_classes_of


def reduce(has_files: bool) -> None:
    """Before the first use."""
    changed: Any = library
    check_classes_of(changed)
