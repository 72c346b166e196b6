"""numpy: what its C code imports on first use; files that are not there for a reason."""

from __future__ import annotations

import importlib
from typing import Any

from .. import lookout


def _explain_missing_files() -> None:
    """loadtxt() and genfromtxt() look whether there is such a file before they open it."""
    source = importlib.import_module("numpy.lib._datasource").DataSource
    find = source._findfile

    def _findfile(self: Any, path: Any) -> Any:
        found = find(self, path)
        if found is None:
            lookout.need_files()
        return found

    source._findfile = _findfile


def adapt() -> None:
    numpy = importlib.import_module("numpy")
    _explain_missing_files()
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
