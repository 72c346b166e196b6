"""tqdm: bars without its monitor, which is a thread, and without a lock between processes."""

from __future__ import annotations

from typing import Any

from . import late


def _adapt(std: Any) -> None:
    std.tqdm.monitor_interval = 0
    std.TqdmDefaultWriteLock.mp_lock = None


def prepare_late() -> None:
    late.adapt_on_import({"tqdm.std": _adapt})
