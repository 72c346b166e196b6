"""time.sleep, for guests: other threads run meanwhile."""

from __future__ import annotations

from .scheduler import sleep

__all__ = ["sleep"]
