"""statsmodels: loads its native code, since a sealed worker cannot map it later."""

from __future__ import annotations

from . import load_native


def adapt() -> None:
    load_native("statsmodels")
