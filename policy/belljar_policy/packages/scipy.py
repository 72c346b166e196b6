"""scipy: its parts load on first use, and a sealed worker maps no more native code."""

from __future__ import annotations

import importlib

from . import load_native

_PARTS = (
    "cluster", "fft", "fftpack", "integrate", "interpolate", "linalg", "ndimage", "optimize",
    "signal", "sparse", "spatial", "special", "stats",
)  # fmt: skip


def adapt() -> None:
    for part in _PARTS:
        importlib.import_module(f"scipy.{part}")
        load_native(f"scipy.{part}")
