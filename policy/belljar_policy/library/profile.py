"""profile, for guests: the same as cProfile."""

from __future__ import annotations

from .cProfile import Profile, run, runctx

__all__ = ["Profile", "run", "runctx"]
