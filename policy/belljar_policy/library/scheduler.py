"""The scheduler of the guest's threads: who runs, who waits, and for what.

Threads are cooperative. Each is a fiber (engine/inside/guards/fibers.cc) on the worker's only
kernel thread, and runs until it waits: for a lock, a queue, the end of another thread, or time. A
new thread runs at once, as it nearly always does in CPython, whose start() waits for it. Those that
are ready take turns in the order in which they became so. Hence a program with threads does the
same each time, apart from its clocks.

Everything that waits does so in wait(), and whoever ends the waiting calls wake(). If every thread
waits and no time limit is left, nothing can ever go on: the main thread gets an error that lists
who waits for what.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import _belljar_guards as guards

from . import program
from .objects import is_a

MAX_THREADS = 256
"""At the same time, the main thread included. Each needs address space for its stack."""

_LONGEST = 1e8  # seconds; longer than any run
_sleep = time.sleep
clock = time.monotonic


class Strand:
    """A thread as the scheduler sees it. No guest gets one."""

    __slots__ = (
        "ended", "failure", "fiber", "number", "record", "ticket", "waits_for", "woken",
    )  # fmt: skip

    def __init__(self, number: int, record: Any = None) -> None:
        self.number = number
        self.fiber: Any = None
        self.record: Any = record
        """What threading.py knows of it; has `name` and `strand`."""
        self.waits_for: Callable[[], str] | None = None
        """Describes what it waits for; None while it runs or is ready to."""
        self.ticket = 0  # the number of its current wait: entries of earlier ones are void
        self.woken = False
        self.failure: BaseException | None = None
        self.ended = False


class _State:
    """One to a process: like the worker, used for one program."""

    def __init__(self) -> None:
        self.main = Strand(1)
        self.running = self.main
        self.alive = 1
        self.ready: deque[Strand] = deque()
        self.timers: list[tuple[float, int, Strand, int]] = []  # a heap
        self.numbers = itertools.count(2)
        self.stack_size = 0
        self.waiting: dict[int, Strand] = {}


_SMALLER_STACK = 8 << 20

_state = _State()
_ticks = itertools.count()


def running() -> Strand:
    """The strand of the running thread."""
    return _state.running


def main() -> Strand:
    """The strand of the main thread."""
    return _state.main


def has_begun() -> bool:
    """Whether a thread was started."""
    return _state.main.fiber is not None


def is_alone() -> bool:
    """Whether no other thread is alive."""
    return _state.alive == 1


def stack_size(size: int | None = None) -> int:
    """threading.stack_size(), without its checks."""
    before = _state.stack_size
    if size is not None:
        _state.stack_size = size
    return before


def spawn(body: Callable[[], None], record: Any) -> None:
    """Starts a thread that calls `body`, and runs it until it waits. `body` raises nothing."""
    if _state.running.ended:  # a finaliser of its thread-local data
        raise RuntimeError("can't start new thread: the running one has ended")
    if _state.alive >= MAX_THREADS:
        raise RuntimeError(
            f"can't start new thread: at most {MAX_THREADS} can be alive at the same time; "
            "concurrent.futures.ThreadPoolExecutor(max_workers=32) shares a few among many tasks"
        )
    if _state.main.fiber is None:
        _state.main.fiber = guards.running_fiber()
        program.running.has_end = True
    strand = Strand(next(_state.numbers), record)

    def run() -> Any:
        _state.running = strand
        try:
            body()
        finally:
            strand.ended = True
            _state.alive -= 1
        return _next().fiber  # which continues after its switch_fiber()

    strand.fiber = _make_fiber(run)
    record.strand = strand
    _state.alive += 1
    _state.ready.append(_state.running)
    _switch_to(strand)


def _make_fiber(run: Callable[[], Any]) -> Any:
    """Programs ask for stacks of 256 MiB or more to be on the safe side, and calls of Python
    functions need little of one: where there is no memory for it, a smaller one serves."""
    size = _state.stack_size
    while True:
        try:
            return guards.make_fiber(run, size)
        except RuntimeError:
            if size <= _SMALLER_STACK:
                raise
            size = max(size // 2, _SMALLER_STACK)


def real(seconds: Any) -> float | None:
    """`seconds` as an exact float: what a program passes instead could compare as it likes."""
    return None if seconds is None else math.ldexp(seconds, 0)


def wait(waits_for: Callable[[], str], seconds: float | None = None) -> bool:
    """Lets others run until wake() is called for this thread, or the time is over. Whether it was
    woken. Raises RuntimeError in the main thread if nobody can run any more.
    """
    me = _state.running
    if me.ended:  # a finaliser of its thread-local data
        raise RuntimeError("[BJ502] a thread that has ended cannot wait")
    me.ticket += 1
    me.woken = False
    me.waits_for = waits_for
    _state.waiting[me.number] = me
    if seconds is not None:
        seconds = min(seconds, _LONGEST)
        heapq.heappush(_state.timers, (clock() + seconds, next(_ticks), me, me.ticket))
    _switch_to(_next())
    if me.failure is not None:
        failure, me.failure = me.failure, None
        raise failure
    return me.woken


def wake(strand: Strand) -> None:
    """Ends the wait() of a strand, if it is in one."""
    if strand.waits_for is not None:
        strand.woken = True
        _make_ready(strand)


def pass_turn() -> None:
    """Lets those run that are ready. For functions by which programs poll: `while t.is_alive()`."""
    if _state.alive == 1:
        return
    _expire()
    me = _state.running
    if _state.ready and not me.ended:
        _state.ready.append(me)
        _switch_to(_state.ready.popleft())


def sleep(seconds: Any, /) -> None:
    """time.sleep."""
    is_number = is_a(seconds, float) or is_a(seconds, int)
    if _state.alive == 1 or not is_number or not (duration := math.ldexp(seconds, 0)) >= 0:
        _sleep(seconds)  # and its errors
    elif duration == 0:
        pass_turn()
    else:
        wait(lambda: "time.sleep()", duration)


def until_woken(waits_for: Callable[[], str], seconds: float | None) -> None:
    """wait() for an event loop, which sleeps if there is no other thread."""
    if _state.alive > 1 or seconds is None:
        wait(waits_for, seconds)
    elif seconds > 0:
        _sleep(seconds)


def seconds_to_next() -> float | None:
    """How long no other thread has anything to do; None: until the running one wakes one."""
    _expire()
    if _state.ready:
        return 0.0
    return max(0.0, _state.timers[0][0] - clock()) if _state.timers else None


def _make_ready(strand: Strand) -> None:
    strand.waits_for = None
    _state.waiting.pop(strand.number, None)
    _state.ready.append(strand)


def _expire() -> None:
    timers = _state.timers
    while timers:
        when, _, strand, ticket = timers[0]
        is_void = strand.ticket != ticket or strand.waits_for is None
        if not is_void and when > clock():
            return
        heapq.heappop(timers)
        if not is_void:
            _make_ready(strand)


def _next() -> Strand:
    """Whose turn it is; sleeps until there is somebody."""
    while True:
        _expire()
        if _state.ready:
            return _state.ready.popleft()
        if not _state.timers:
            return _deadlocked()
        _sleep(max(0.0, _state.timers[0][0] - clock()))


def _deadlocked() -> Strand:
    waits = [f"{each.record.name} waits for {each.waits_for()}" for each in _state.waiting.values()
             if each.waits_for is not None]  # fmt: skip
    shown = "; ".join(waits[:_MAX_SHOWN])
    if len(waits) > _MAX_SHOWN:
        shown += f"; and {len(waits) - _MAX_SHOWN} more threads wait"
    _state.main.failure = RuntimeError(
        f"[BJ502] deadlock: every thread waits, and none is left to wake another: {shown}"
    )
    _make_ready(_state.main)
    return _state.ready.popleft()


_MAX_SHOWN = 8


def _switch_to(strand: Strand) -> None:
    me = _state.running
    if strand is not me:
        guards.switch_fiber(strand.fiber)
        _state.running = me
