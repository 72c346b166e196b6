"""Waiting for the host's functions, by event loops that have nothing else to do.

While the host is asked, nothing runs in this process, no thread either. So it is asked to wait only
where no thread is ready, and for no longer than until the next timer.
"""

from __future__ import annotations

import _thread

from .. import program, scheduler
from .executors import uses_kernel_threads

# Beside other work the host is asked this often, in seconds: an answer takes it 20 to 50 us.
_INTERVAL = 0.001
# How long a loop may wait for what else can wake it before it asks the host again.
_PAUSE = 0.005

_last_glance = 0.0


def are_pending() -> bool:
    """Whether a call of the host's has begun and not ended (belljar_runner/host_calls.py)."""
    calls = program.running.host_calls
    return calls is not None and calls.are_pending()


def glance() -> None:
    """Takes the end of a call, if one has ended. For loops that have something else to do."""
    global _last_glance
    if are_pending() and scheduler.clock() - _last_glance >= _INTERVAL:
        program.running.host_calls.wait(0.0)
        _last_glance = scheduler.clock()


def wait(seconds: float | None, *, has_others: bool = False) -> float:
    """Waits until a call ends, at most for `seconds`. How long the loop may then wait for others
    that can wake it: threads of the kernel's, and with `has_others`, what only it knows of.
    """
    if has_others or (uses_kernel_threads() and _thread._count() > 0):
        program.running.host_calls.wait(0.0)
        scheduler.pass_turn()
        return _PAUSE if seconds is None else min(seconds, _PAUSE)
    until_thread = None if scheduler.is_alone() else scheduler.seconds_to_next()
    limits = [each for each in (seconds, until_thread) if each is not None]
    program.running.host_calls.wait(min(limits, default=None))
    scheduler.pass_turn()
    return 0.0
