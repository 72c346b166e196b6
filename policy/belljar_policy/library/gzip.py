"""gzip, for guests: bytes and the program's own file objects; without files, a path raises."""

from __future__ import annotations

import gzip
from typing import Any

from .compression import reduce_module


def reduce(has_files: bool) -> None:
    """Before the first use. With files, files.py has done this in the zygote."""
    if not has_files:
        library: Any = gzip
        reduce_module(library)
