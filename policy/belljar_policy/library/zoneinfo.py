"""zoneinfo, for guests: a key is what it says."""

from __future__ import annotations

import zoneinfo._tzpath as paths
from typing import Any


def reduce() -> None:
    """Zygote, before the freeze: the path that is opened is the one that was checked."""
    # A str subclass answers `folder + "/" + key` with __radd__: any path of the file system.
    library: Any = paths
    validate = library._validate_tzfile_path

    def _validate_tzfile_path(path: Any, *more: Any) -> None:
        if type(path) is not str:
            raise TypeError(
                f"[BJ502] a time zone's key must be a plain str, not {type(path).__name__!r}"
            )
        validate(path, *more)

    library._validate_tzfile_path = _validate_tzfile_path
