"""Calls of the host's coroutine functions, of which a program may await several side by side.

A call begins with a message that is answered at once, with its number. While the program's event
loop has nothing else to do, it asks the host for one that has ended. The host bounds how many have
begun, so further ones wait here.
"""

import contextlib
import json
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

# (name, arguments as JSON) to the answer as JSON
CallHost = Callable[[str, str], str]

# As in engine/host/request.h; no program can call these names.
BEGINS_CALL = "+"
_AWAITS_CALLS = "@await"
_AWAITS_CALLS_UNTIL = "@await_until"
_CANCELS_CALL = "@cancel"

# The host ends a program with more.
_MAX_BEGUN = 16


class _Call:
    """No program gets one, only its future: what a program sets there is not the answer."""

    def __init__(self, name: str, arguments: str, future: Any) -> None:
        self.name = name
        self.arguments = arguments
        self.future = future
        self.answer: dict[str, Any] | None = None

    def end(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        with contextlib.suppress(RuntimeError):  # its event loop is closed
            self.future.get_loop().call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


class HostCalls:
    """One to a process. In a session, calls that a cell leaves end with it."""

    def __init__(self) -> None:
        self._call_host: CallHost | None = None
        self._begun: dict[int, _Call] = {}
        self._waiting: deque[_Call] = deque()

    def begin(self, call_host: CallHost | None) -> None:
        """A program or a cell begins."""
        left = [*self._begun.values(), *self._waiting]
        self._begun.clear()
        self._waiting.clear()
        self._call_host = call_host
        message = "the cell that called it has ended"
        for call in left:
            call.end({"error": {"type": "RuntimeError", "message": message}})

    def are_pending(self) -> bool:
        return bool(self._begun)

    async def call(self, name: str, arguments: str) -> dict[str, Any]:
        """The host's answer."""
        if self._call_host is None:
            raise RuntimeError("this cell calls a function that it was not given")
        call = _Call(name, arguments, _new_future())
        self._waiting.append(call)
        self._begin_waiting()
        try:
            await call.future
        finally:
            if call.answer is None:
                self._withdraw(call)
        if call.answer is None:
            raise RuntimeError(f"{name}(): something else has ended its future")
        return call.answer

    def wait(self, seconds: float | None) -> None:
        """Asks the host for a call that has ended, of those that have begun. Nothing else runs here
        meanwhile. Returns after `seconds` (None: whenever the host wants to look at the clock).
        """
        if seconds is None:
            answer = self._ask(_AWAITS_CALLS)
        else:
            answer = self._ask(_AWAITS_CALLS_UNTIL, max(0.0, float(seconds)))
        call = self._begun.pop(answer.get("ended", 0), None)
        if call is not None:
            call.end(answer)
            self._begin_waiting()
        elif "interrupt" in answer:  # of a cell
            raise KeyboardInterrupt

    def _begin_waiting(self) -> None:
        assert self._call_host is not None
        while self._waiting and len(self._begun) < _MAX_BEGUN:
            call = self._waiting.popleft()
            answer = json.loads(self._call_host(BEGINS_CALL + call.name, call.arguments))
            if "value" in answer:
                self._begun[answer["value"]] = call
            else:
                call.end(answer)

    def _withdraw(self, call: _Call) -> None:
        if call in self._waiting:
            self._waiting.remove(call)
            return
        for number, each in self._begun.items():
            if each is call:
                del self._begun[number]
                self._ask(_CANCELS_CALL, number)
                self._begin_waiting()
                return

    def _ask(self, name: str, *args: float) -> dict[str, Any]:
        assert self._call_host is not None
        question = json.dumps({"args": args, "kwargs": {}})
        answer: dict[str, Any] = json.loads(self._call_host(name, question))
        return answer


calls = HostCalls()


def _new_future() -> Any:
    asyncio: Any = sys.modules.get("asyncio")
    if asyncio is None:  # and so no event loop
        raise RuntimeError("no running event loop")
    return asyncio.get_running_loop().create_future()
