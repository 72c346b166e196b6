"""Belljar for a program on another system: `python -m belljar._remote`, in a Linux container or
over ssh, is asked on standard input and answers on standard output (`_frames`).

It offers what the extension module offers (`_host.pyi`) to one program at the other end. That
program is trusted like a local caller: only what the extension checks is checked.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

from belljar import _errors, _frames, _host, _result
from belljar import _sandbox as _prepared  # noqa: F401 - prepares the extension
from belljar._frames import Handle

_ERRORS = {name: kind for name, kind in vars(_errors).items() if isinstance(kind, type)}


class _Ask:
    """One request while it is served."""

    def __init__(self, server: _Server, number: int) -> None:
        self.cancellation = _host.Canceller()
        self._server = server
        self._number = number
        self._answers: dict[int, tuple[threading.Event, list[Any]]] = {}

    def stream(self, name: str, text: str) -> None:
        self._server.send("stream", self._number, name, text)

    def call(self, name: str, arguments: str) -> str:
        """Calls a function at the other end."""
        answered = threading.Event()
        slot: list[Any] = []
        key = len(self._answers)
        self._answers[key] = (answered, slot)
        self._server.send("call", self._number, key, name, arguments)
        answered.wait()
        del self._answers[key]
        if slot[0] is None:
            raise RuntimeError("the program at the other end has stopped this run")
        text: str = slot[0]
        return text

    def answer(self, key: int, text: str | None) -> None:
        answered, slot = self._answers[key]
        slot.append(text)
        answered.set()


class _Server:
    def __init__(self, requests: IO[bytes], replies: IO[bytes]) -> None:
        self._requests = requests
        self._replies = replies
        self._sending = threading.Lock()
        self._things: dict[int, Any] = {}
        self._last = 0
        self._asks: dict[int, _Ask] = {}

    def send(self, *message: Any) -> None:
        try:
            with self._sending:
                _frames.write(self._replies, list(message))
        except OSError:  # the other end is gone, as the next read shows
            pass

    def serve(self) -> None:
        """Serves requests until the other end closes its side or sends a malformed message."""
        self.send("hello", _frames.PROTOCOL, _host.VERSION, _host.PYTHON_VERSION)
        while message := _frames.read(self._requests):
            kind, *content = message
            if kind == "ask":
                number, operation, arguments = content
                ask = self._asks[number] = _Ask(self, number)
                threading.Thread(
                    target=self._serve, args=(ask, number, operation, arguments), daemon=True
                ).start()
            elif kind == "cancel":
                if asked := self._asks.get(content[0]):
                    asked.cancellation.cancel()
            elif kind == "answer":
                number, key, text = content
                if asked := self._asks.get(number):
                    asked.answer(key, text)
            elif kind == "drop":
                self._things.pop(content[0], None)

    def _serve(self, ask: _Ask, number: int, operation: str, arguments: list[Any]) -> None:
        try:
            value = _OPERATIONS[operation](self, ask, *arguments)
            reply: tuple[Any, ...] = ("value", number, value)
        except BaseException as error:
            reply = ("error", number, *_described(error))
        del self._asks[number]
        self.send(*reply)

    def thing(self, handle: Handle) -> Any:
        return self._things[handle.number]

    def handle(self, thing: Any) -> Handle:
        self._last += 1
        self._things[self._last] = thing
        return Handle(self._last)


def _described(error: BaseException) -> tuple[str, list[Any]]:
    """The name of an exception's class, and its arguments."""
    if type(error).__name__ in _ERRORS:
        return type(error).__name__, list(error.__reduce__()[1])
    return type(error).__name__, [str(error)]


# --- the operations: those of _host.pyi ---------------------------------------------------------


def _request(ask: _Ask, request: dict[str, Any]) -> Any:
    if request.pop("call", False):
        request["call"] = ask.call
    if request.pop("stream", False):
        request["stream"] = ask.stream
    return request


def _engine(server: _Server, _: _Ask, options: Any, defaults: Any) -> Handle:
    return server.handle(_host.Engine(options, defaults))


def _close_engine(server: _Server, _: _Ask, engine: Handle, waits: bool) -> None:
    closing = threading.Thread(target=server.thing(engine).close, daemon=True)
    closing.start()
    if waits:
        closing.join()


def _run(server: _Server, ask: _Ask, engine: Handle, request: dict[str, Any]) -> Any:
    return _host.run(server.thing(engine), _request(ask, request), ask.cancellation, False)


def _validate(server: _Server, _: _Ask, engine: Handle, request: Any) -> Any:
    return _host.validate(server.thing(engine), request, False)


def _open_session(server: _Server, _: _Ask, engine: Handle, request: Any) -> list[Any]:
    session = _host.open_session(server.thing(engine), request, False)
    return [server.handle(session), session.id]


def _run_cell(
    server: _Server, ask: _Ask, session: Handle, request: dict[str, Any], wait: int
) -> Any:
    cell = _request(ask, request)
    turn = _host.Turn(wait, False)
    return _host.run_cell(server.thing(session), cell, ask.cancellation, turn)


def _of_engine(server: _Server, _: _Ask, engine: Handle, name: str, arguments: list[Any]) -> Any:
    found = getattr(server.thing(engine), name)
    return found(*arguments) if callable(found) else found


def _of_session(
    server: _Server, _: _Ask, session: Handle, name: str, arguments: list[Any], wait: int | None
) -> Any:
    found = getattr(server.thing(session), name)
    if not callable(found):
        return found
    given = [server.thing(each) if type(each) is Handle else each for each in arguments]
    value = found(*given) if wait is None else found(*given, _host.Turn(wait, False))
    if name == "branch":
        return [[server.handle(each), each.id] for each in value]
    return value


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda server, ask, *arguments: function(*arguments)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "engine": _engine,
    "close_engine": _close_engine,
    "run": _run,
    "validate": _validate,
    "open_session": _open_session,
    "run_cell": _run_cell,
    "of_engine": _of_engine,
    "of_session": _of_session,
    **{
        each.__name__: _plain(each)
        for each in (
            _host.parse_duration,
            _host.parse_size,
            _host.answer_text,
            _host.failure_text,
            _host.program_text,
            _host.tool_text,
            _host.library_text,
            _host.result_fields,
        )
    },
}


def main() -> None:
    if (_host.__file__ or "").endswith(".py"):  # the one for other systems, which would ask another
        sys.exit("belljar: error: this Python has the Belljar of another system")
    _frames.register_results(_result)
    # Keeps accidental prints out of the messages.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        _Server(sys.stdin.buffer, replies).serve()
    except _frames.BrokenMessage as error:
        sys.exit(f"belljar: error: {error}")


if __name__ == "__main__":
    main()
