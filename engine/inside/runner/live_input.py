"""Live input: a standard input that asks the host for a line when the program reads it, for a
person who is there.

The question has the prompt: what the program has written since the last line end or question. An
end of the input stays one.
"""

import io
import json
import sys
from collections.abc import Callable

from .host_functions import CallHost, answered

# Among the functions of a request, and no program's (Request in engine/host/request.h).
ASKS = "@input"

# What has been written since the last time, at least its end: to stdout, and to stderr.
NewOutput = Callable[[], tuple[bytes, bytes]]

_HIDING = frozenset({"getpass", "belljar_policy.library.getpass"})
_MAX_CALLS = 12  # from our code to getpass()


class _Asked(io.RawIOBase):
    """The bytes of the lines."""

    def __init__(self, call_host: CallHost, new_output: NewOutput) -> None:
        self._call_host = call_host
        self._new_output = new_output
        self._rest = b""
        self._has_ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest and not self._has_ended:
            self._rest = self._ask()
            self._has_ended = not self._rest
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def _ask(self) -> bytes:
        out, err = map(_last_line, self._new_output())
        question = json.dumps({"args": [out or err, _is_for_getpass()], "kwargs": {}})
        line = answered(self._call_host(ASKS, question))
        return line.encode("utf-8", "replace") if type(line) is str else b""


def open_stream(call_host: CallHost, new_output: NewOutput) -> io.TextIOWrapper:
    raw = _Asked(call_host, new_output)
    return io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8", errors="strict")


def _last_line(output: bytes) -> str:
    return output.rpartition(b"\n")[2].decode("utf-8", "replace")


def _is_for_getpass() -> bool:
    """Whether what is typed should not be seen."""
    frame = sys._getframe(1)
    for _ in range(_MAX_CALLS):
        if frame.f_globals.get("__name__") in _HIDING:
            return True
        if frame.f_back is None:
            break
        frame = frame.f_back
    return False
