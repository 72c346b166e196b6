"""signal, for guests: names and handlers, which nothing calls: no signal reaches the program.

A run ends at its time limit, and when the host kills it. So a handler that would save something
when the user interrupts the program is kept, and never needed.
"""

from __future__ import annotations

import signal as library
from typing import Any

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
