"""statsmodels: its native code is loaded, since a sealed worker maps no more of it."""

from __future__ import annotations

from . import load_native


def adapt() -> None:
    load_native("statsmodels")
