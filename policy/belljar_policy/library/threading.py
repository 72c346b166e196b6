"""threading, for guests: cooperative threads (scheduler.py).

A thread gives up its turn only in a function that waits or polls, so nothing here needs a lock of
its own. A lock that is released goes to the one that has waited longest: a thread that takes it
again in a loop does not keep the others out.

Programs may derive from most classes. So what the scheduler relies on is in an object of its own
behind each instance, which no attribute of the program's class can replace (_public, _record_of):
a queue of the program's in its place would be handed the strands of other threads.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from _thread import _local
from collections import deque
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from . import scheduler, traceback
from .objects import is_a, its_own_only

ThreadError = RuntimeError
TIMEOUT_MAX = 9223372036.0
local = _local  # C code, which keeps the values in the thread state: that of the fiber

_MIN_STACK = 32 << 10


# --- waiting -------------------------------------------------------------------------------------


class _Place:
    """A place in a queue of waiting threads."""

    __slots__ = ("is_called", "strand")

    def __init__(self) -> None:
        self.strand = scheduler.running()
        self.is_called = False


_Queue = deque[_Place]


def _wait(
    queue: _Queue, place: _Place, waits_for: Callable[[], str], seconds: float | None
) -> bool:
    """Waits until the place is called; False: the time was over."""
    try:
        if not place.is_called:
            if seconds is None or seconds > 0:
                scheduler.wait(waits_for, seconds)
            else:
                scheduler.pass_turn()
    finally:
        if not place.is_called:
            queue.remove(place)
    return place.is_called


def _queue_up(queue: _Queue, waits_for: Callable[[], str], seconds: Any) -> bool:
    seconds = scheduler.real(seconds)
    place = _Place()
    queue.append(place)
    return _wait(queue, place, waits_for, seconds)


def _call_next(queue: _Queue) -> Any:
    """Calls the one that has waited longest, and returns its strand; None: nobody waits."""
    if not queue:
        return None
    place = queue.popleft()
    place.is_called = True
    scheduler.wake(place.strand)
    return place.strand


def _seconds(blocking: Any, timeout: Any) -> float | None:
    """The arguments of acquire() as seconds; None: without a limit."""
    if timeout is None or not is_a(timeout, float) and not is_a(timeout, int):
        raise TypeError(f"{type(timeout).__name__!r} object cannot be interpreted as a number")
    if not blocking:
        if timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        return 0.0
    if timeout == -1:
        return None
    if timeout < 0:
        raise ValueError("timeout value must be a non-negative number")
    if timeout > TIMEOUT_MAX:
        raise OverflowError("timeout value is too large")
    return float(timeout)


# --- locks ---------------------------------------------------------------------------------------


@its_own_only
class Lock:
    """threading.Lock."""

    __slots__ = ("__weakref__", "_holder", "_queue")
    _at_fork_reinit = (
        None  # concurrent.futures names it, for a hook that alone.py does not register
    )

    def __init__(self) -> None:
        self._holder: Any = None  # the strand that took it, only for messages
        self._queue: _Queue = deque()

    def acquire(self, blocking: Any = True, timeout: Any = -1) -> bool:
        """Takes the lock; False: it was taken by others until the time was over."""
        seconds = _seconds(blocking, timeout)
        if self._holder is None:
            self._holder = scheduler.running()
            return True
        return _queue_up(self._queue, lambda: _held(self._holder), seconds)

    def release(self) -> None:
        """Gives it to the next, or unlocks it."""
        if self._holder is None:
            raise RuntimeError("release unlocked lock")
        self._holder = _call_next(self._queue)

    def locked(self) -> bool:
        """Whether somebody has it."""
        if self._holder is not None:
            scheduler.pass_turn()
        return self._holder is not None

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        how = "unlocked" if self._holder is None else "locked"
        return f"<{how} _thread.lock object at {id(self):#x}>"


def _held(strand: Any) -> str:
    return f"a lock that {strand.record.name} acquired"


@its_own_only
class RLock:
    """threading.RLock."""

    __slots__ = ("__weakref__", "_count", "_owner", "_queue")

    def __init__(self) -> None:
        self._owner: Any = None
        self._count = 0
        self._queue: _Queue = deque()

    def acquire(self, blocking: Any = True, timeout: Any = -1) -> bool:
        """Takes the lock, once more if this thread has it."""
        seconds = _seconds(blocking, timeout)
        me = scheduler.running()
        if self._owner is not None and self._owner is not me:
            return _queue_up(self._queue, lambda: _held(self._owner), seconds)
        self._owner = me
        self._count += 1
        return True

    def release(self) -> None:
        """Undoes one acquire()."""
        if self._owner is not scheduler.running():
            raise RuntimeError("cannot release un-acquired lock")
        self._count -= 1
        if self._count == 0:
            self._owner = _call_next(self._queue)  # from now on, before it runs
            self._count = 0 if self._owner is None else 1

    def _is_owned(self) -> bool:
        return self._owner is scheduler.running()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        how = "unlocked" if self._owner is None else "locked"
        owner = 0 if self._owner is None else self._owner.number
        return f"<{how} _thread.RLock object owner={owner} count={self._count} at {id(self):#x}>"


# --- classes to derive from ----------------------------------------------------------------------

_CORE = "_core"


def _public(core_class: Any) -> Any:
    """Class decorator: the class that programs get. Its methods are those of `core_class`, called
    with an instance of it that only the scheduler can reach, whatever a derived class defines.
    """
    bases = tuple(_PUBLIC[base] for base in core_class.__bases__ if base in _PUBLIC)
    slots = () if bases else ("__dict__", "__weakref__", _CORE)
    made: Any = type(
        core_class.__name__, bases, {"__slots__": slots, "__doc__": core_class.__doc__}
    )
    slot = _slots.get(bases[0]) if bases else made.__dict__[_CORE]
    assert slot is not None
    core_of, set_core = slot.__get__, slot.__set__
    _slots[made], _PUBLIC[core_class], _CORES[made] = slot, made, core_class

    def init(self: Any, *args: Any, **options: Any) -> None:
        core = core_class(*args, **options)
        set_core(self, core)

    def represent(self: Any) -> str:
        cls = type(self)
        state = core_of(self).state()
        return f"<{cls.__module__}.{cls.__qualname__} at {id(self):#x}: {state}>"

    made.__init__ = _named(init, core_class.__init__, made)
    if hasattr(core_class, "state"):
        made.__repr__ = represent
    for name, value in vars(core_class).items():
        if type(value) is property:
            setattr(made, name, property(_forward(value.fget, core_of, made), doc=value.__doc__))
        elif (
            type(value) is FunctionType
            and name not in ("__init__", "state")
            and (not name.startswith("_") or name in _SPECIAL)
        ):
            setattr(made, name, _forward(value, core_of, made))
    return made


_SPECIAL = ("__enter__", "__exit__", "__repr__")
_PUBLIC: dict[type, type] = {}
_CORES: dict[type, type] = {}
_slots: dict[type, Any] = {}


def _core_class_of(public: Any) -> Any:
    return _CORES[public]


def _forward(function: Any, core_of: Callable[[Any], Any], cls: Any) -> Any:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        try:
            core = core_of(self)
        except AttributeError:
            raise RuntimeError(f"{cls.__name__}.__init__() not called") from None
        return function(core, *args, **options)

    return _named(method, function, cls)


def _named(method: Any, original: Any, cls: Any) -> Any:
    method.__name__, method.__doc__ = original.__name__, original.__doc__
    method.__qualname__ = f"{cls.__name__}.{original.__name__}"
    return method


@_public
class Condition:
    """threading.Condition."""

    def __init__(self, lock: Any = None) -> None:
        self._lock: Any = RLock() if lock is None else lock
        self._queue: _Queue = deque()

    def acquire(self, *args: Any, **options: Any) -> Any:
        """Acquires the lock."""
        return self._lock.acquire(*args, **options)

    def release(self) -> None:
        """Releases the lock."""
        self._lock.release()

    def __enter__(self) -> Any:
        return self._lock.__enter__()

    def __exit__(self, *error: object) -> Any:
        return self._lock.__exit__(*error)

    def __repr__(self) -> str:
        return f"<Condition({self._lock}, {len(self._queue)})>"

    def _is_owned(self) -> bool:
        if type(self._lock) is RLock:
            return RLock._is_owned(self._lock)
        if type(self._lock) is Lock:
            return self._lock._holder is not None
        if self._lock.acquire(False):
            self._lock.release()
            return False
        return True

    def wait(self, timeout: Any = None) -> bool:
        """Releases the lock, waits for notify() and takes it again; False: it was too late."""
        if not self._is_owned():
            raise RuntimeError("cannot wait on un-acquired lock")
        lock = self._lock
        timeout = scheduler.real(timeout)
        place = _Place()
        self._queue.append(place)
        count = 1
        if type(lock) is RLock:
            count, lock._count = lock._count, 1
        lock.release()
        try:
            return _wait(self._queue, place, lambda: "Condition.notify()", timeout)
        finally:
            lock.acquire()
            if type(lock) is RLock:
                lock._count = count

    def wait_for(self, predicate: Any, timeout: Any = None) -> Any:
        """wait() until `predicate()` is true."""
        end = None
        left = timeout
        result = predicate()
        while not result:
            if left is not None:
                if end is None:
                    end = scheduler.clock() + left
                else:
                    left = end - scheduler.clock()
                    if left <= 0:
                        break
            self.wait(left)
            result = predicate()
        return result

    def notify(self, n: int = 1) -> None:
        """Wakes up to `n` threads that wait."""
        if not self._is_owned():
            raise RuntimeError("cannot notify on un-acquired lock")
        for _ in range(n):
            if not _call_next(self._queue):
                break

    def notify_all(self) -> None:
        """Wakes all threads that wait."""
        self.notify(len(self._queue))

    def notifyAll(self) -> None:  # noqa: N802 (the library's name)
        """notify_all(), deprecated."""
        _deprecated("notifyAll", "notify_all")
        self.notify_all()


@_public
class Semaphore:
    """threading.Semaphore."""

    _bounded = False

    def __init__(self, value: int = 1) -> None:
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        self._value = self._initial_value = value
        self._queue: _Queue = deque()

    def acquire(self, blocking: Any = True, timeout: Any = None) -> bool:
        """Takes one of the values; False: there was none until the time was over."""
        if not blocking and timeout is not None:
            raise ValueError("can't specify timeout for non-blocking acquire")
        if self._value > 0:
            self._value -= 1
            return True
        seconds = timeout if blocking else 0.0
        return _queue_up(self._queue, lambda: "Semaphore.release()", seconds)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self, n: int = 1) -> None:
        """Returns `n` values."""
        if n < 1:
            raise ValueError("n must be one or more")
        if self._bounded and self._value + n > self._initial_value:
            raise ValueError("Semaphore released too many times")
        for _ in range(n):
            if not _call_next(self._queue):
                self._value += 1

    def state(self) -> str:
        bound = f"/{self._initial_value}" if self._bounded else ""
        return f"value={self._value}{bound}"


@_public
class BoundedSemaphore(_core_class_of(Semaphore)):
    """threading.BoundedSemaphore."""

    _bounded = True


@_public
class Event:
    """threading.Event."""

    def __init__(self) -> None:
        self._flag = False
        self._queue: _Queue = deque()

    def is_set(self) -> bool:
        """Whether set() was called after the last clear()."""
        if not self._flag:
            scheduler.pass_turn()
        return self._flag

    def isSet(self) -> bool:  # noqa: N802 (the library's name)
        """is_set(), deprecated."""
        _deprecated("isSet", "is_set")
        return self.is_set()

    def set(self) -> None:
        """Wakes all threads that wait, and lets no other wait."""
        self._flag = True
        while _call_next(self._queue):
            pass

    def clear(self) -> None:
        """Lets wait() wait again."""
        self._flag = False

    def wait(self, timeout: Any = None) -> bool:
        """Waits for set(); False: it was too late."""
        if self._flag:
            return True
        return _queue_up(self._queue, lambda: "Event.set()", timeout) or self._flag

    def state(self) -> str:
        return "set" if self._flag else "unset"


class BrokenBarrierError(RuntimeError):
    """A Barrier was reset or broken while a thread waited."""


@_public
class Barrier:
    """threading.Barrier."""

    def __init__(self, parties: int, action: Any = None, timeout: Any = None) -> None:
        if parties < 1:
            raise ValueError("parties must be > 0")
        self._parties, self._action, self._timeout = parties, action, timeout
        self._round = _Round()

    def wait(self, timeout: Any = None) -> int:
        """Waits for all parties; returns a different number to each, from 0."""
        seconds = self._timeout if timeout is None else timeout
        turn = self._round
        if turn.is_broken:
            raise BrokenBarrierError
        index = turn.count
        turn.count += 1
        if turn.count == self._parties:
            try:
                if self._action is not None:
                    self._action()
            except BaseException:
                self.abort()
                raise
            if self._round is turn:
                self._round = _Round()
            turn.is_over = True
            turn.call_all()
            return index
        _queue_up(turn.queue, lambda: f"{self._parties - turn.count} more at a Barrier", seconds)
        if not turn.is_over:
            if not turn.is_broken and self._round is turn:
                self.abort()
            raise BrokenBarrierError
        return index

    def reset(self) -> None:
        """Breaks the waiting of those that wait; the next round starts from zero."""
        turn, self._round = self._round, _Round()
        turn.is_broken = True
        turn.call_all()

    def abort(self) -> None:
        """Breaks the barrier, until reset()."""
        self._round.is_broken = True
        self._round.call_all()

    @property
    def parties(self) -> int:
        """How many threads pass together."""
        return self._parties

    @property
    def n_waiting(self) -> int:
        """How many threads wait."""
        return 0 if self._round.is_broken else self._round.count

    @property
    def broken(self) -> bool:
        """Whether it was aborted, or a thread left early."""
        return self._round.is_broken

    def state(self) -> str:
        return f"waiters={self.n_waiting}/{self.parties}"


class _Round:
    """Those that pass a barrier together."""

    __slots__ = ("count", "is_broken", "is_over", "queue")

    def __init__(self) -> None:
        self.count = 0
        self.is_broken = self.is_over = False
        self.queue: _Queue = deque()

    def call_all(self) -> None:
        while _call_next(self.queue):
            pass


# --- threads -------------------------------------------------------------------------------------


class _Record:
    """What is known of a thread, out of the program's reach."""

    __slots__ = ("daemon", "joining", "name", "strand", "thread")

    def __init__(self, name: str, daemon: bool, thread: Any) -> None:
        self.name = name
        self.daemon = daemon
        self.thread = thread
        self.strand: Any = None
        self.joining: _Queue = deque()

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle '_thread.lock' object")  # CPython's, of a thread

    @property
    def is_alive(self) -> bool:
        return self.strand is not None and not self.strand.ended


def _plain(name: Any) -> str:
    """An exact str: one of a subclass would run code of the program in the scheduler."""
    return str.__str__(str(name))


_numbers = itertools.count(1)
_alive: dict[int, _Record] = {}  # by the strand's number, in the order of their start
_at_exit: list[Callable[[], None]] = []


class Thread:
    """threading.Thread."""

    __slots__ = ("__dict__", "__weakref__", "_record")

    def __init__(
        self,
        group: Any = None,
        target: Any = None,
        name: Any = None,
        args: Any = (),
        kwargs: Any = None,
        *,
        daemon: Any = None,
    ) -> None:
        assert group is None, "group argument must be None for now"
        if name is None:
            name = f"Thread-{next(_numbers)}"
            if target is not None:
                name += f" ({target.__name__})" if hasattr(target, "__name__") else ""
        self._target, self._args = target, args
        self._kwargs = {} if kwargs is None else kwargs
        is_daemon = _current().daemon if daemon is None else bool(daemon)
        _set_record(self, _Record(_plain(name), is_daemon, self))

    def start(self) -> None:
        """Runs run() in a thread of its own, until it waits for the first time."""
        record = _record_of(self)
        if record.strand is not None:
            raise RuntimeError("threads can only be started once")
        scheduler.spawn(lambda: _run(record), record)

    def run(self) -> None:
        """Calls the target."""
        try:
            if self._target is not None:
                self._target(*self._args, **self._kwargs)
        finally:
            del self._target, self._args, self._kwargs  # they may refer to the thread

    def join(self, timeout: Any = None) -> None:
        """Waits for the end of the thread."""
        record = _record_of(self)
        if record.strand is None:
            raise RuntimeError("cannot join thread before it is started")
        if record.strand is scheduler.running():
            raise RuntimeError("cannot join current thread")
        if record.is_alive:
            _queue_up(record.joining, lambda: f"the end of {record.name}", timeout)

    @property
    def name(self) -> str:
        """For people; need not be unique."""
        return _record_of(self).name

    @name.setter
    def name(self, name: Any) -> None:
        _record_of(self).name = _plain(name)

    @property
    def ident(self) -> int | None:
        """A number that no other living thread has; None before start()."""
        strand = _record_of(self).strand
        return None if strand is None else strand.number

    native_id = ident

    def is_alive(self) -> bool:
        """Whether run() has begun and not ended."""
        record = _record_of(self)
        if record.is_alive:
            scheduler.pass_turn()
        return record.is_alive

    @property
    def daemon(self) -> bool:
        """Whether the program ends without waiting for it."""
        return _record_of(self).daemon

    @daemon.setter
    def daemon(self, daemon: Any) -> None:
        record = _record_of(self)
        if record.is_alive:
            raise RuntimeError("cannot set daemon status of active thread")
        record.daemon = bool(daemon)

    def isDaemon(self) -> bool:  # noqa: N802 (the library's name)
        """daemon, deprecated."""
        _deprecated("isDaemon", "daemon")
        return _record_of(self).daemon

    def setDaemon(self, daemonic: Any) -> None:  # noqa: N802
        """daemon, deprecated."""
        _deprecated("setDaemon", "daemon")
        self.daemon = daemonic

    def getName(self) -> str:  # noqa: N802
        """name, deprecated."""
        _deprecated("getName", "name")
        return _record_of(self).name

    def setName(self, name: Any) -> None:  # noqa: N802
        """name, deprecated."""
        _deprecated("setName", "name")
        self.name = name

    def __repr__(self) -> str:
        record = _record_of(self)
        how = "initial" if record.strand is None else "started" if record.is_alive else "stopped"
        how += " daemon" if record.daemon else ""
        how += f" {record.strand.number}" if record.strand is not None else ""
        return f"<{type(self).__name__}({record.name}, {how})>"


_slot_of: Callable[[Any], _Record] = Thread.__dict__["_record"].__get__
_set_record: Callable[[Any, _Record], None] = Thread.__dict__["_record"].__set__


def _record_of(thread: Any) -> _Record:
    try:
        return _slot_of(thread)
    except AttributeError:
        raise RuntimeError("thread.__init__() not called") from None


its_own_only(Thread)


def _run(record: _Record) -> None:
    number = record.strand.number
    _alive[number] = record
    try:
        record.thread.run()
    except SystemExit:
        pass
    except BaseException as error:
        try:
            _show(record, error)
        except BaseException:
            pass  # the stream is the program's: there is nowhere to say so
    finally:
        del _alive[number]
        record.strand.ended = True
        while _call_next(record.joining):
            pass


def _show(record: _Record, error: BaseException) -> None:
    if sys.stderr is not None:
        lines = traceback.lines_of(error)
        sys.stderr.write("".join((f"Exception in thread {record.name}:\n", *lines)))


@its_own_only
class Timer(Thread):
    """threading.Timer."""

    __slots__ = ()

    def __init__(self, interval: Any, function: Any, args: Any = None, kwargs: Any = None) -> None:
        Thread.__init__(self)
        self.interval, self.function = interval, function
        self.args = [] if args is None else args
        self.kwargs = {} if kwargs is None else kwargs
        self.finished = Event()

    def cancel(self) -> None:
        """Does not call the function, if it has not yet."""
        self.finished.set()

    def run(self) -> None:
        """Waits, and calls the function."""
        self.finished.wait(self.interval)
        if not self.finished.is_set():
            self.function(*self.args, **self.kwargs)
        self.finished.set()


@its_own_only
class _MainThread(Thread):
    """The thread that runs the program."""

    __slots__ = ()

    def __init__(self) -> None:
        record = _Record("MainThread", False, self)
        _set_record(self, record)
        record.strand = scheduler.main()
        record.strand.record = record
        _alive[record.strand.number] = record


_MAIN = _MainThread()


def _current() -> _Record:
    return scheduler.running().record


def current_thread() -> Any:
    """The Thread that runs."""
    return _current().thread


def main_thread() -> Any:
    """The Thread of the program itself."""
    return _MAIN


def active_count() -> int:
    """How many threads are alive."""
    scheduler.pass_turn()
    return len(_alive)


def enumerate() -> list[Any]:  # noqa: A001 (the library's name)
    """The threads that are alive."""
    scheduler.pass_turn()
    return [record.thread for record in _alive.values()]


def get_ident() -> int:
    """The number of the running thread."""
    return scheduler.running().number


get_native_id = get_ident


def currentThread() -> Any:  # noqa: N802 (the library's name)
    """current_thread(), deprecated."""
    _deprecated("currentThread", "current_thread")
    return current_thread()


def activeCount() -> int:  # noqa: N802
    """active_count(), deprecated."""
    _deprecated("activeCount", "active_count")
    return active_count()


def stack_size(size: int = 0, /) -> int:
    """The size of the stacks of new threads; 0: enough for the recursion limit."""
    if type(size) is not int:
        raise TypeError(f"{type(size).__name__!r} object cannot be interpreted as an integer")
    if size and size < _MIN_STACK:
        raise ValueError(f"size not valid: {size} bytes")
    return scheduler.stack_size(size)


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"{old}() is deprecated, use {new} instead", DeprecationWarning, stacklevel=4)


# --- the end of the program ----------------------------------------------------------------------


def _register_atexit(function: Callable[[], None]) -> None:
    """Calls `function` when the program has ended, before its threads are waited for."""
    _at_exit.append(function)


def _living() -> Iterator[_Record]:
    for record in list(_alive.values()):
        if record.thread is not _MAIN and not record.daemon:
            yield record


def finish() -> None:
    """Runner: the program's code has ended. Waits for its threads that are not daemons, as CPython
    does; raises RuntimeError if they wait forever."""
    if scheduler.has_begun():
        for function in reversed(_at_exit):
            function()
        while next(_living(), None) is not None:
            for record in _living():
                Thread.join(record.thread)
