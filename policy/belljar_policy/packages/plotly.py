"""plotly: figures become artifacts; there is no browser to show them in."""

from __future__ import annotations

import importlib
from typing import Any

from . import by_name

MAX_SHOWN = 100

shown: list[Any] = []
"""Figures of show(), in order: the runner keeps them."""


def _show(figure: Any, *_: Any, **__: Any) -> None:
    if len(shown) < MAX_SHOWN:
        shown.append(figure)


def _only_own_tables() -> None:
    """data.iris(return_type="pandas"): read by the module of that name."""
    module: Any = importlib.import_module("plotly.data")
    known = frozenset({*module.AVAILABLE_BACKENDS, "pyarrow.csv", "modin.pandas"})
    module.import_module = by_name.importing_only(
        known, "plotly data is only available as pandas tables"
    )


def adapt() -> None:
    _only_own_tables()
    plotly_io = importlib.import_module("plotly.io")
    _show.__module__, _show.__qualname__, _show.__name__ = plotly_io.__name__, "show", "show"
    plotly_io.show = _show
    importlib.import_module("plotly.io._renderers").show = _show
    express = importlib.import_module("plotly.express")
    express.line(x=[1, 2], y=[3, 4]).to_json()
