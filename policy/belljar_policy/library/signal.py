"""signal, for guests: names and handlers. The one signal that reaches a program is SIGALRM, which
it asks for itself: alarm() and setitimer() bound the time of code that it did not write.

A run ends at its time limit, and when the host kills it; no handler delays that. So a handler that
would save something when the user interrupts the program is kept, and never needed.

A handler is called where the program could have called it itself (interruptible.py), by the
main thread. Elsewhere, in our own code or an import, the alarm is put off by a millisecond.
"""

from __future__ import annotations

import math
import signal as library
from types import FrameType
from typing import Any

from . import interruptible, scheduler
from .program import running

SIG_DFL, SIG_IGN = library.SIG_DFL, library.SIG_IGN
Handlers, Signals = library.Handlers, library.Signals
SIGABRT, SIGALRM, SIGCHLD, SIGFPE = (
    Signals.SIGABRT,
    Signals.SIGALRM,
    Signals.SIGCHLD,
    Signals.SIGFPE,
)
SIGHUP, SIGILL, SIGINT, SIGKILL = Signals.SIGHUP, Signals.SIGILL, Signals.SIGINT, Signals.SIGKILL
SIGPIPE, SIGQUIT, SIGSEGV, SIGTERM = (
    Signals.SIGPIPE, Signals.SIGQUIT, Signals.SIGSEGV, Signals.SIGTERM,
)  # fmt: skip
SIGUSR1, SIGUSR2, SIGWINCH = Signals.SIGUSR1, Signals.SIGUSR2, Signals.SIGWINCH

_handlers: dict[int, Any] = {}


def _number(signalnum: Any) -> int:
    if type(signalnum) is not int and type(signalnum) is not Signals:
        raise TypeError("an integer is required")
    return int(Signals(signalnum))


def default_int_handler(signalnum: Any, frame: Any, /) -> None:
    """Raises KeyboardInterrupt, as Python does at Control-C."""
    raise KeyboardInterrupt


def signal(signalnum: Any, handler: Any) -> Any:
    """Sets the handler of a signal; returns the one before."""
    number = _number(signalnum)
    if number == SIGKILL:
        raise OSError(22, "Invalid argument")
    if not callable(handler) and handler not in (SIG_DFL, SIG_IGN):
        raise TypeError(
            "signal handler must be signal.SIG_IGN, signal.SIG_DFL, or a callable object"
        )
    before = getsignal(number)
    _handlers[number] = handler
    return before


def getsignal(signalnum: Any) -> Any:
    """The handler of a signal."""
    number = _number(signalnum)
    return _handlers.get(number, default_int_handler if number == SIGINT else SIG_DFL)


def strsignal(signalnum: Any) -> Any:
    """What the signal is called in messages."""
    return library.strsignal(_number(signalnum))


def valid_signals() -> Any:
    """All signals."""
    return set(Signals)


# --- alarms ---------------------------------------------------------------------------------------

ITIMER_REAL = library.ITIMER_REAL
ItimerError = library.ItimerError
_LATER = 0.001


class _Alarm:
    """One to a process."""

    is_installed = False
    interval = 0.0
    is_put_off = False


_alarm = _Alarm()


def _install() -> None:
    if not _alarm.is_installed:
        library.signal(SIGALRM, _on_alarm)
        _alarm.is_installed = True
        running.has_end = True  # stop()


def _on_alarm(_number: int, frame: FrameType | None) -> None:
    is_main = scheduler.running() is scheduler.main()
    if not is_main or not interruptible.may_interrupt(frame, running.builtins):
        _, interval = library.getitimer(ITIMER_REAL)
        if not _alarm.is_put_off:
            _alarm.interval = interval
        _alarm.is_put_off = True
        library.setitimer(ITIMER_REAL, _LATER)
        return
    if _alarm.is_put_off:
        _alarm.is_put_off = False
        library.setitimer(ITIMER_REAL, _alarm.interval, _alarm.interval)
    handler = getsignal(SIGALRM)
    if handler is SIG_IGN:
        return
    if handler is SIG_DFL:  # of the system: the end of the process
        raise SystemExit(128 + SIGALRM)
    handler(int(SIGALRM), None)


def setitimer(which: Any, seconds: Any, interval: Any = 0.0, /) -> tuple[float, float]:
    """signal.setitimer(): of ITIMER_REAL; returns what was left, and the interval."""
    if type(which) is not int or which != ITIMER_REAL:
        raise ItimerError(22, "Invalid argument: only ITIMER_REAL counts here")
    _install()
    _alarm.is_put_off = False
    return library.setitimer(ITIMER_REAL, float(seconds), float(interval))


def getitimer(which: Any, /) -> tuple[float, float]:
    """signal.getitimer(): what is left, and the interval."""
    if type(which) is not int or which != ITIMER_REAL:
        raise ItimerError(22, "Invalid argument: only ITIMER_REAL counts here")
    return library.getitimer(ITIMER_REAL)


def alarm(seconds: Any, /) -> int:
    """signal.alarm(): SIGALRM after so many seconds; returns how many an earlier one had left."""
    if type(seconds) not in (int, bool):
        raise TypeError(f"{type(seconds).__name__!r} object cannot be interpreted as an integer")
    left, _ = setitimer(ITIMER_REAL, seconds)
    return math.ceil(left)


def stop() -> None:
    """At the end of a program: what comes afterwards is not its own."""
    if _alarm.is_installed:
        library.setitimer(ITIMER_REAL, 0)
        _alarm.is_put_off = False
