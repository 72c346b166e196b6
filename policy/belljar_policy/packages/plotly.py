"""plotly: figures become artifacts; there is no browser to show them in."""

from __future__ import annotations

import importlib
from typing import Any

MAX_SHOWN = 100

shown: list[Any] = []
"""Figures of show(), in order: the runner keeps them."""


def _show(figure: Any, *_: Any, **__: Any) -> None:
    if len(shown) < MAX_SHOWN:
        shown.append(figure)


def adapt() -> None:
    plotly_io = importlib.import_module("plotly.io")
    _show.__module__, _show.__qualname__, _show.__name__ = plotly_io.__name__, "show", "show"
    plotly_io.show = _show
    importlib.import_module("plotly.io._renderers").show = _show
    express = importlib.import_module("plotly.express")
    express.line(x=[1, 2], y=[3, 4]).to_json()
