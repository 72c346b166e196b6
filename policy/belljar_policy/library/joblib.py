"""joblib.dump() and load(), for guests: models are kept within a run, as by our pickle."""

from __future__ import annotations

import builtins
from typing import Any

from . import pickle
from .program import running


def _open(path: Any, mode: str) -> Any:
    if "open" not in running.builtins:
        raise PermissionError(
            "[BJ502] files are not available in this profile; pass io.BytesIO(), a file in memory"
        )
    return builtins.open(path, mode)


def dump(value: Any, filename: Any, compress: Any = 0, protocol: Any = None) -> Any:
    """Keeps the model; load() gives it back in the same run."""
    if hasattr(type(filename), "write"):
        pickle.dump(value, filename)
        return None
    with _open(filename, "wb") as file:
        pickle.dump(value, file)
    return [str(filename)]


def load(filename: Any, mmap_mode: Any = None, **_: Any) -> Any:
    """What dump() was given in the same run."""
    if hasattr(type(filename), "read"):
        return pickle.load(filename)
    with _open(filename, "rb") as file:
        return pickle.load(file)
