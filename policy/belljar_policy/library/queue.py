"""queue, for guests: the library's own, on the locks of threading.py."""

from __future__ import annotations

from typing import Any

from . import threading
from .alone import load, seal

# Without _queue: its SimpleQueue, in C, waits with a real lock, and nobody would run meanwhile.
library: Any = load("queue", {"_queue": None, "threading": threading})

Empty = library.Empty
Full = library.Full
Queue = library.Queue
LifoQueue = library.LifoQueue
PriorityQueue = library.PriorityQueue
SimpleQueue = library.SimpleQueue = library._PySimpleQueue
SimpleQueue.__name__ = SimpleQueue.__qualname__ = "SimpleQueue"
SimpleQueue.__module__ = "_queue"
ShutDown = getattr(library, "ShutDown", None)  # since 3.13
for _class in (Queue, LifoQueue, PriorityQueue, SimpleQueue):
    seal(_class)
