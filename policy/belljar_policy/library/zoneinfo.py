"""zoneinfo, for guests: keys are plain strings, and the zones are the system's."""

from __future__ import annotations

import importlib.machinery
import zoneinfo._common as common
import zoneinfo._tzpath as paths
from typing import Any, NoReturn


def reduce(_: bool) -> None:
    """Zygote, before the freeze."""
    _check_what_is_opened()
    if importlib.machinery.PathFinder.find_spec("tzdata") is None:
        library: Any = common
        library.load_tzdata = _no_tzdata


def _no_tzdata(key: str) -> NoReturn:
    """The result of a lookup in the missing package tzdata, without importing the library's 15
    modules for package resources, which cost 6 ms of a zygote's start."""
    raise common.ZoneInfoNotFoundError(f"No time zone found with key {key}")


def _check_what_is_opened() -> None:
    """Ensures that the path that is opened is the one that was checked."""
    # A str subclass can define __radd__, so that `folder + "/" + key` is any path.
    library: Any = paths
    validate = library._validate_tzfile_path

    def _validate_tzfile_path(path: Any, *more: Any) -> None:
        if type(path) is not str:
            raise TypeError(
                f"[BJ502] a time zone's key must be a plain str, not {type(path).__name__!r}"
            )
        validate(path, *more)

    library._validate_tzfile_path = _validate_tzfile_path
