"""urllib3, which requests is based on."""

from __future__ import annotations

import importlib
import types
from typing import Any


def adapt() -> None:
    """weakref.finalize, which keeps its own state in its class, is immutable by now. A worker ends
    with its connections.
    """
    pools: Any = importlib.import_module("urllib3.connectionpool")
    pools.weakref = types.SimpleNamespace(finalize=lambda *_: None)
