"""time, for guests: other threads run during a sleep, and only named clocks can be read."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .scheduler import sleep

__all__ = ["clock_getres", "clock_gettime", "clock_gettime_ns", "sleep"]

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
