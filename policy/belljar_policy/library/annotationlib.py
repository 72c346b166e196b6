"""annotationlib (Python 3.14), for guests: annotations of what the program defined."""

from __future__ import annotations

from typing import Any

from . import inspect


def get_annotations(
    obj: Any, *, globals: Any = None, locals: Any = None, eval_str: bool = False, format: Any = 1
) -> dict[str, Any]:
    """annotationlib.get_annotations, for what the program defined."""
    return inspect.get_annotations(obj, eval_str=eval_str, format=format)
