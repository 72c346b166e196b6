"""multiprocessing.pool, for guests: see multiprocessing.py."""

from __future__ import annotations

from .multiprocessing import AsyncResult, Pool, ThreadPool

__all__ = ["AsyncResult", "Pool", "ThreadPool"]
