"""Interrupting a cell: the host's SIGINT becomes a KeyboardInterrupt of the guest's code.

CPython runs a handler between two instructions of whatever Python code the main thread is at. Here
it may be ours, which nobody may interrupt: a report is being made, or the cell has not begun. Then
the signal is forgotten, so that it does not hit the next cell.

Under the language policy it may also be code of the policy's, which holds what a program must not
have: a module's loading, the imports of a call. Half of that would be a hole. So the exception is
raised where the program could have raised it itself: in its own code, in code of the standard
library that it called, in a sleep. Otherwise a trace function waits for the program's next line.
"""

import sys
from _signal import SIGINT, getsignal, signal
from collections.abc import Callable
from types import FrameType
from typing import Any

_WHERE = "belljar_policy.library.interruptible"


class _State:
    is_installed = False
    runs_guest = False
    guest_builtins: dict[str, Any] | None = None  # None: the policy is off
    is_pending = False
    handler_of_guest: Any = None  # with the policy off it may have set its own


_state = _State()


def install() -> None:
    """Worker of a session, in its main thread. Without it a SIGINT does what it did before."""
    try:
        signal(SIGINT, _on_signal)
    except (ValueError, OSError):  # another thread; the kernel's filter
        return
    _state.is_installed = True


def begin(guest_builtins: dict[str, Any] | None) -> None:
    """From here on the guest runs; `guest_builtins` with the policy on."""
    if not _state.is_installed:
        return
    if _state.handler_of_guest is not None:
        handler, _state.handler_of_guest = _state.handler_of_guest, None
        signal(SIGINT, handler)
    _state.guest_builtins = guest_builtins
    _state.runs_guest = True


def end() -> None:
    """The guest has ended. Raises nothing, whatever handler the guest has set."""
    _state.runs_guest = False
    if not _state.is_installed:
        return
    for _ in range(3):
        try:
            if _state.is_pending:
                _state.is_pending = False
                sys.settrace(None)
            handler = getsignal(SIGINT)
            if handler is not _on_signal:
                _state.handler_of_guest = handler
                signal(SIGINT, _on_signal)  # the guest's own handler may run in here, and raise
            return
        except BaseException:
            continue


def _on_signal(_number: int, frame: FrameType | None) -> None:
    if not _state.runs_guest or frame is None or frame.f_code.co_filename in _OURS:
        return
    builtins = _state.guest_builtins
    if builtins is None or sys.modules[_WHERE].may_interrupt(frame, builtins):
        raise KeyboardInterrupt
    _state.is_pending = True
    _raise_later(frame)


def _raise_later(frame: FrameType | None) -> None:
    while frame is not None and frame.f_builtins is not _state.guest_builtins:
        frame = frame.f_back
    if frame is not None:
        frame.f_trace = _trace
    sys.settrace(_trace)


_Trace = Callable[[FrameType, str, Any], Any]


def _trace(frame: FrameType, _event: str, _argument: Any) -> _Trace | None:
    if not _state.is_pending or not _state.runs_guest:
        return None
    if frame.f_builtins is not _state.guest_builtins:
        return None
    _state.is_pending = False
    sys.settrace(None)
    raise KeyboardInterrupt


# Files whose own frames are never interrupted: this one, and that of _run_code().
_OURS = {_on_signal.__code__.co_filename}


def never_in(function: Callable[..., Any]) -> None:
    """No interrupt in a frame of the file of `function`."""
    _OURS.add(function.__code__.co_filename)
