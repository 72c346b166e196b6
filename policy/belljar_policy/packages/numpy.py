"""numpy: what its C code imports on first use."""

from __future__ import annotations

import importlib


def adapt() -> None:
    numpy = importlib.import_module("numpy")
    for name in ("_core._methods", "_core._dtype", "_core._internal", "_core._exceptions",
                 "_core.arrayprint", "_core.tests._natype", "ma", "random", "fft", "polynomial",
                 "strings", "rec", "char"):  # fmt: skip
        try:
            importlib.import_module(f"numpy.{name}")
        except ImportError:
            continue
    # Once through what nearly every program does: caches fill, and bytecode specialises.
    values = numpy.arange(12.0).reshape(3, 4)
    str((values @ values.T).sum(axis=0).mean().item())
    repr(values)
    numpy.linalg.inv(numpy.eye(2))
