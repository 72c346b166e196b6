"""The extension module where there is none: each call is carried out by a Belljar on Linux.

On macOS and Windows this file takes the place of `_host` (docs/elsewhere.md). On the first call it
starts a Belljar in a container, over ssh or in WSL (`_elsewhere`), which ends with this process and
in which `_remote` answers.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from belljar import _elsewhere, _errors, _frames

VERSION = _elsewhere.VERSION

# So that Ctrl-C ends a wait, on Windows too.
_POLL = 0.2 if sys.platform == "win32" else None
_END_SECONDS = 5.0


class _Thread(threading.local):
    runs = 0
    """The runs that this thread waits for. If it is executing code, the innermost one called it."""


_thread = _Thread()


class _Link:
    """The connection to a Belljar on Linux."""

    def __init__(self) -> None:
        try:
            place = _elsewhere.find_place()
            self.name = place.name
            self._process = subprocess.Popen(
                place.python("-m", "belljar._remote"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except _elsewhere.NoPlaceError as error:
            raise _errors.BelljarError("start Belljar", f"start Belljar: {error}") from None
        except OSError as error:
            message = f"start Belljar: start {place.kind}: {error.strerror}"
            raise _errors.BelljarError("start Belljar", message, error.errno or 0) from None
        self._sending = threading.Lock()
        self._events: dict[int, queue.SimpleQueue[list[Any]]] = {}
        self._numbers = itertools.count(1)
        self._last_words = b""
        self._is_over = False
        reads_errors = threading.Thread(target=self._read_errors, daemon=True)
        reads_errors.start()
        try:
            assert self._process.stdout is not None
            hello = _frames.read(self._process.stdout)
        except _frames.BrokenMessage as error:
            hello = ["nothing", str(error)]
        if hello is None or hello[0] != "hello":
            self._process.kill()
            self._process.wait()
            reads_errors.join(_END_SECONDS)
            raise self._error("start Belljar", "did not start")
        _, protocol, version, self.python = hello
        if (protocol, version) != (_frames.PROTOCOL, VERSION):
            self._process.kill()
            raise _errors.BelljarError(
                "start Belljar",
                f"start Belljar: {self.name} has Belljar {version}, and this is {VERSION}; install "
                "the same version in both places",
            )
        threading.Thread(target=self._read, daemon=True).start()
        print(f"belljar: programs run in {self.name}", file=sys.stderr)

    def _error(self, operation: str, what: str) -> Exception:
        said = self._last_words.decode(errors="replace").strip()
        return _errors.BelljarError(
            operation,
            f"{operation}: the Belljar in {self.name} {what}" + (f": {said}" if said else ""),
        )

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while text := self._process.stderr.read1():  # type: ignore[attr-defined]
            self._last_words = (self._last_words + text)[-2000:]

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while message := _frames.read(self._process.stdout):
                if waiting := self._events.get(message[1]):
                    waiting.put(message)
        except (_frames.BrokenMessage, OSError, ValueError, IndexError):
            self._process.kill()
        self._is_over = True
        for waiting in list(self._events.values()):
            waiting.put(["end"])

    def send(self, *message: Any) -> None:
        assert self._process.stdin is not None
        try:
            with self._sending:
                _frames.write(self._process.stdin, list(message))
        except (OSError, ValueError):  # it has ended, as the reader reports
            pass

    def ask(
        self,
        operation: str,
        *arguments: Any,
        cancellation: Canceller | None = None,
        call: Callable[[str, str], str] | None = None,
        stream: Callable[[str, str], object] | None = None,
    ) -> Any:
        number = next(self._numbers)
        events = self._events[number] = queue.SimpleQueue()
        if self._is_over:
            events.put(["end"])
        _thread.runs += 1
        try:
            self.send("ask", number, operation, list(arguments))
            if cancellation is not None:
                cancellation._begin(self, number)
            return self._await(number, events, call, stream)
        except BaseException:
            # Whatever interrupts this thread also cancels the operation.
            self.send("cancel", number)
            raise
        finally:
            _thread.runs -= 1
            if cancellation is not None:
                cancellation._end(self, number)
            del self._events[number]

    def _await(
        self,
        number: int,
        events: queue.SimpleQueue[list[Any]],
        call: Callable[[str, str], str] | None,
        stream: Callable[[str, str], object] | None,
    ) -> Any:
        while True:
            try:
                kind, *content = events.get(timeout=_POLL)
            except queue.Empty:
                continue
            if kind == "value":
                return content[1]
            if kind == "error":
                raise _made_error(*content[1:])
            if kind == "end":
                raise self._error("run in a sandbox", "has ended")
            if kind == "stream" and stream is not None:
                stream(*content[1:])
            if kind == "call" and call is not None:
                answer = None
                try:
                    answer = call(*content[2:])
                finally:
                    self.send("answer", number, content[1], answer)

    def close(self) -> None:
        """Closes its input, whereupon it stops its workers and exits."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """In a forked child: the connection is the parent's."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                os.close(pipe.fileno())
        self._process.returncode = 0  # nothing to wait for


def _made_error(name: str, arguments: list[Any]) -> BaseException:
    kind = getattr(_errors, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = {each.__name__: each for each in (ValueError, TypeError, MemoryError)}.get(name)
    return RuntimeError(f"{name}: {arguments[0]}") if kind is None else kind(*arguments)


_link: _Link | None = None
_starting = threading.Lock()


def _open_link() -> _Link:
    global _link
    with _starting:
        if _link is None or _link._is_over:
            _link = _Link()
        return _link


def _ask(operation: str, *arguments: Any) -> Any:
    return _open_link().ask(operation, *arguments)


def _without_callbacks(request: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The request with True in place of its callbacks, and the callbacks."""
    callbacks = {name: request[name] for name in ("call", "stream") if request.get(name)}
    return {**request, **dict.fromkeys(callbacks, True)}, callbacks


# --- what _host.pyi declares ---------------------------------------------------------------------


def __getattr__(name: str) -> Any:
    if name == "PYTHON_VERSION":  # of the Python that runs programs
        return _open_link().python
    raise AttributeError(name)


class Canceller:
    def __init__(self) -> None:
        self.is_cancelled = False
        self._runs: set[tuple[_Link, int]] = set()
        self._lock = threading.Lock()

    def cancel(self) -> None:
        with self._lock:
            self.is_cancelled = True
            runs = list(self._runs)
        for link, number in runs:
            link.send("cancel", number)

    def _begin(self, link: _Link, number: int) -> None:
        with self._lock:
            self._runs.add((link, number))
            is_cancelled = self.is_cancelled
        if is_cancelled:
            link.send("cancel", number)

    def _end(self, link: _Link, number: int) -> None:
        with self._lock:
            self._runs.discard((link, number))


class _Thing:
    """An object at the other end, which lives until nothing here refers to it."""

    _handle: Any = None

    def __init__(self, link: _Link, handle: Any) -> None:
        self._at = link
        self._handle = handle

    def __del__(self) -> None:
        if self._handle is not None and not sys.is_finalizing():
            self._at.send("drop", self._handle.number)


class Engine(_Thing):
    def __init__(self, options: Any, defaults: Any) -> None:
        link = _open_link()
        super().__init__(link, link.ask("engine", dict(options), dict(defaults)))

    def _of(self, name: str, *arguments: Any) -> Any:
        return self._at.ask("of_engine", self._handle, name, list(arguments))

    def wait_until_ready(self, seconds: float) -> bool:
        return self._of("wait_until_ready", seconds)

    def close(self) -> None:
        if not self._at._is_over:
            # Not waited for within a run, which itself waits for this call.
            self._at.ask("close_engine", self._handle, not _thread.runs)

    def counters(self) -> dict[str, int]:
        return self._of("counters")

    def wanted_profile(self, request: Any, continues: bool = False) -> str | None:
        decisive = {
            key: request[key] for key in ("source", "files", "allowed_imports") if key in request
        }
        return self._of("wanted_profile", decisive, continues)

    def offer(self, milliseconds: int | None, memory: int | None) -> str:
        return self._of("offer", milliseconds, memory)

    @property
    def facts(self) -> str:
        return self._of("facts")

    @property
    def packages(self) -> list[str]:
        return self._of("packages")


class Turn:
    def __init__(self, milliseconds: int, watch_signals: bool) -> None:
        self._wait = milliseconds


class LiveSession(_Thing):
    def __init__(self, link: _Link, made: list[Any]) -> None:
        handle, self.id = made
        super().__init__(link, handle)

    def _of(self, name: str, *arguments: Any, turn: Turn | None = None) -> Any:
        given = [each._handle if isinstance(each, _Thing) else each for each in arguments]
        wait = None if turn is None else turn._wait
        return self._at.ask("of_session", self._handle, name, given, wait)

    @property
    def closed(self) -> str:
        return "the Belljar that had it has ended" if self._at._is_over else self._of("closed")

    def checkpoint(self, label: str, turn: Turn, /) -> str:
        return self._of("checkpoint", label, turn=turn)

    def checkpoints(self) -> list[tuple[str, int, str, str, float, bool]]:
        return self._of("checkpoints")

    def roll_back(self, checkpoint: str, turn: Turn, /) -> None:
        self._of("roll_back", checkpoint, turn=turn)

    def undo(self, cells: int, turn: Turn, /) -> None:
        self._of("undo", cells, turn=turn)

    def branch(
        self, count: int, checkpoint: str, reseeds: bool, turn: Turn, /
    ) -> list[LiveSession]:
        made = self._of("branch", count, checkpoint, reseeds, turn=turn)
        return [LiveSession(self._at, each) for each in made]

    def ask(self, kind: str, source: bytes, cursor: int | None, turn: Turn, /) -> str:
        return self._of("ask", kind, source, cursor, turn=turn)

    def compare(self, other: LiveSession, turn: Turn, /) -> Any:
        return self._of("compare", other, turn=turn)

    def compare_with_checkpoint(self, checkpoint: str, turn: Turn, /) -> Any:
        return self._of("compare_with_checkpoint", checkpoint, turn=turn)

    def files(self, turn: Turn, /) -> list[tuple[bytes, int]]:
        return self._of("files", turn=turn)

    def read_file(self, path: bytes, turn: Turn, /) -> bytes:
        return self._of("read_file", path, turn=turn)

    def write_files(self, files: list[tuple[str, bytes]], turn: Turn, /) -> None:
        self._of("write_files", files, turn=turn)

    def remove_file(self, path: bytes, turn: Turn, /) -> None:
        self._of("remove_file", path, turn=turn)

    def languages(self) -> list[str]:
        return self._of("languages")

    def add_kernel(self, engine: Engine, asked: Any, watch_signals: bool, /) -> str:
        return self._of("add_kernel", engine, dict(asked), False)

    def read_variable(self, language: str, name: str, turn: Turn, /) -> str:
        return self._of("read_variable", language, name, turn=turn)

    def set_variable(self, language: str, name: str, json: str, turn: Turn, /) -> None:
        self._of("set_variable", language, name, json, turn=turn)

    def info(self) -> tuple[int, bool, int, float, float, int]:
        return self._of("info")

    def interrupt(self) -> bool:
        return self._of("interrupt")

    def close(self, why: str, /) -> None:
        if not self._at._is_over:
            self._of("close", why)


Comparison = tuple[Any, ...]


def open_session(engine: Engine, asked: Any, watch_signals: bool) -> LiveSession:
    return LiveSession(engine._at, engine._at.ask("open_session", engine._handle, dict(asked)))


def run_cell(session: LiveSession, asked: Any, cancellation: Canceller | None, turn: Turn) -> Any:
    request, callbacks = _without_callbacks(asked)
    return session._at.ask(
        "run_cell", session._handle, request, turn._wait, cancellation=cancellation, **callbacks
    )


def run(
    engine: Engine, run_request: Any, cancellation: Canceller | None, watch_signals: bool, /
) -> Any:
    request, callbacks = _without_callbacks(run_request)
    return engine._at.ask("run", engine._handle, request, cancellation=cancellation, **callbacks)


def validate(engine: Engine, run_request: Any, watch_signals: bool) -> Any:
    return engine._at.ask("validate", engine._handle, dict(run_request))


def read_plain(text: str, tagged: Callable[[dict[str, Any]], Any]) -> Any:
    def read(made: dict[str, Any]) -> Any:
        return tagged(made) if any(key.startswith("$") for key in made) else made

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no JSON")

    try:
        return json.loads(text, object_hook=read, parse_constant=refuse)
    except RecursionError as error:
        raise ValueError("too deep") from error


def parse_duration(text: str) -> int:
    return _ask("parse_duration", text)


def parse_size(text: str) -> int:
    return _ask("parse_size", text)


def answer_text(result: Any, json: str | None, characters: int) -> str:
    return _ask("answer_text", result, json, characters)


def failure_text(result: Any, characters: int) -> str:
    return _ask("failure_text", result, characters)


def tool_text(in_session: bool) -> str:
    return _ask("tool_text", in_session)


def library_text(modules: list[str]) -> str:
    return _ask("library_text", modules)


def program_text(text: str, characters: int) -> str:
    return _ask("program_text", text, characters)


def result_fields() -> dict[str, dict[str, tuple[str, str]]]:
    return _ask("result_fields")


def set_location(folder: str, interpreter: str) -> None:
    """Does nothing: the installation is at the other end."""


def register_package(results: Any, plain: Any, errors: Any) -> None:
    _frames.register_results(results)


def close_all() -> None:
    global _link
    with _starting:
        link, _link = _link, None
    if link is not None:
        link.close()


def after_fork_in_child() -> None:
    global _link, _starting
    _starting = threading.Lock()
    link, _link = _link, None
    if link is not None:
        link.forget()
