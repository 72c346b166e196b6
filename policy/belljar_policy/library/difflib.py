"""difflib, for guests."""

from __future__ import annotations

import difflib
import itertools
from typing import Any


def reduce() -> None:
    """Zygote, before the freeze: HtmlDiff keeps its counter in the class, which is read-only."""
    html: Any = difflib.HtmlDiff
    numbers = itertools.count()

    def _make_prefix(self: Any) -> None:
        number = next(numbers)
        self._prefix = [f"from{number}_", f"to{number}_"]

    html._make_prefix = _make_prefix
