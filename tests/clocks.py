"""How tests treat time.

They wait for events: a line of output, an answer, or a state, by until(), whose deadline only a
hang reaches. They assert how long something took only where nothing else can tell, and then by
within(). tests/repository/test_clocks.py finds other readings of the clock, and sleeps without a
reason.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

# How many times slower than an ordinary machine this one is: `./dev arm64` emulates one. What tests
# allow for is multiplied by it, and so are limits of time that are to be reached, or not.
SLOWNESS = float(os.environ.get("BELLJAR_TEST_SLOWNESS", "1"))
# What never takes that long on a working machine, however busy: shorter than pytest's own limit.
HANG = 90 * SLOWNESS
# The end of a program that lives until it is killed.
UNTIL_KILLED = "import time\nwhile True: time.sleep(1000)\n"  # sleeps: that is it


def until(condition: Callable[[], Found], what: object = "it") -> Found:
    """What `condition` gives as soon as that is true; it is asked every 20 ms. `what` is for
    the message, and called if it can be."""
    end = time.monotonic() + HANG
    while not (found := condition()):
        assert time.monotonic() < end, f"still waiting: {what() if callable(what) else what}"
        time.sleep(0.02)  # sleeps: the one poll
    return found


def within(seconds: float) -> float:
    """The time in which a machine as slow as this one is now does what an idle one does in
    `seconds`: as much longer as a thread of this process waits for a processor. Takes some 20 ms.
    """
    began, used = time.monotonic(), time.thread_time()
    while time.thread_time() - used < 0.02:
        pass
    return seconds * SLOWNESS * max(1.0, (time.monotonic() - began) / 0.02)
