"""logging.config, for guests: dictConfig() of as_guest/logging_config.py, which runs as the
program's code, so that the names in a configuration are looked up with the program's rights.
"""

from __future__ import annotations

import ast
from typing import Any

from . import kept, logging
from .program import running

_OURS = kept.path_as_guest("logging_config")

_loaded: dict[str, Any] = {}


def dictConfig() -> Any:  # noqa: N802
    """The function of that name (reviewed.LIVE)."""
    if not _loaded:
        if running.run_as_guest is None:
            raise RuntimeError("there is no policy to check the text")
        names = {"__name__": "logging.config", "host_loggers": logging.all_loggers}
        _loaded.update(
            running.run_as_guest(
                [(ast.parse(kept.text_as_guest("logging_config"), _OURS), _OURS)], names
            )
        )
    return _loaded["dictConfig"]
