"""sched, for guests: the library's own, with a sleep() in which other threads run."""

from __future__ import annotations

from time import monotonic, time
from typing import Any

from . import threading
from .alone import load, seal, stand_in
from .scheduler import sleep

_time = stand_in("time", monotonic=monotonic, sleep=sleep, time=time)
_library: Any = load("sched", {"threading": threading, "time": _time})

Event = _library.Event
scheduler = _library.scheduler
seal(scheduler)
