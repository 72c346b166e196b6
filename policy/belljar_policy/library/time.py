"""time, for guests: other threads run during a sleep, only named clocks can be read, and the time
zone is that of the program's own os.environ.
"""

from __future__ import annotations

import os as real_os
import time
from collections.abc import Callable
from typing import Any

from . import os
from .scheduler import sleep

__all__ = [
    "altzone", "clock_getres", "clock_gettime", "clock_gettime_ns", "daylight", "sleep", "timezone",
    "tzname", "tzset",
]  # fmt: skip

_CLOCKS = frozenset(value for name, value in vars(time).items() if name.startswith("CLOCK_"))


def _of_named(original: Callable[[int], Any]) -> Callable[[Any], Any]:
    """`original`, for named clocks only.

    Any other number is the CPU-time clock of a process or the clock of a descriptor
    (clock_getcpuclockid(3), clock_gettime(2)); without a PID namespace, of any process of the host.
    """

    def read(clk_id: Any, /) -> Any:
        if type(clk_id) is not int or clk_id not in _CLOCKS:
            raise OSError(22, "Invalid argument")
        return original(clk_id)

    read.__name__ = read.__qualname__ = original.__name__
    return read


clock_getres = _of_named(time.clock_getres)
clock_gettime = _of_named(time.clock_gettime)
clock_gettime_ns = _of_named(time.clock_gettime_ns)


def tzset() -> None:
    """time.tzset(): the zone that TZ names in the program's environment. What the C library reads
    for it are files of the worker's own root."""
    zone = os.environ.get("TZ")
    if type(zone) is str and "\0" not in zone:
        real_os.environ["TZ"] = zone
    else:
        real_os.environ.pop("TZ", None)
    time.tzset()


# What tzset() sets, asked for at each load (reviewed.LIVE).


def altzone() -> int:
    """time.altzone."""
    return time.altzone


def daylight() -> int:
    """time.daylight."""
    return time.daylight


def timezone() -> int:
    """time.timezone."""
    return time.timezone


def tzname() -> tuple[str, str]:
    """time.tzname."""
    return time.tzname
