"""regex: its native code."""

from __future__ import annotations

from . import late


def prepare_late() -> None:
    late.map_native("regex")
