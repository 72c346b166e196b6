"""subprocess, for guests: Python code in a jar of its own, the names that tests patch, and the
classes of results and errors.

There are no other processes. What a program starts with sys.executable is a run like its own, which
the host makes (engine/outside/own_programs.h): code, arguments and input go there as plain data,
and exit code and output come back. Everything else refuses (refusing.py).

It exists for programs that name sys.executable, and those whose tests patch it.
"""

from __future__ import annotations

import os.path
import sys
from functools import partial
from typing import Any, NoReturn

from . import refusing
from .objects import is_a, its_own_only
from .program import running

PIPE, STDOUT, DEVNULL = -1, -2, -3


class SubprocessError(Exception):
    """The base of the two below."""


@its_own_only
class CalledProcessError(SubprocessError):
    """What run(check=True) raises for a process that failed."""

    def __init__(self, returncode: Any, cmd: Any, output: Any = None, stderr: Any = None) -> None:
        self.returncode, self.cmd, self.stderr = returncode, cmd, stderr
        self.output = self.stdout = output

    def __str__(self) -> str:
        return f"Command {self.cmd!r} returned non-zero exit status {self.returncode}."


@its_own_only
class TimeoutExpired(SubprocessError):
    """What run(timeout=…) raises for a process that takes too long."""

    def __init__(self, cmd: Any, timeout: Any, output: Any = None, stderr: Any = None) -> None:
        self.cmd, self.timeout, self.stderr = cmd, timeout, stderr
        self.output = self.stdout = output

    def __str__(self) -> str:
        return f"Command {self.cmd!r} timed out after {self.timeout} seconds"


@its_own_only
class CompletedProcess:
    """What run() returns."""

    def __init__(self, args: Any, returncode: Any, stdout: Any = None, stderr: Any = None) -> None:
        self.args, self.returncode, self.stdout, self.stderr = args, returncode, stdout, stderr

    def check_returncode(self) -> None:
        """Raises CalledProcessError unless the process ended well."""
        if self.returncode:
            raise CalledProcessError(self.returncode, self.args, self.stdout, self.stderr)

    def __repr__(self) -> str:
        named = {"args": self.args, "returncode": self.returncode}
        if self.stdout is not None:
            named["stdout"] = self.stdout
        if self.stderr is not None:
            named["stderr"] = self.stderr
        return f"CompletedProcess({', '.join(f'{k}={v!r}' for k, v in named.items())})"


_WHY = (
    "would start a process, and only Python code is started, by [sys.executable, '-c', code] or "
    "with a file; call the code directly, or patch it in a test"
)
_NOT_HERE = (
    "starts no Python here: a program does that started another, one in a container, and a cell "
    "that does not name subprocess and sys.executable"
)
_FLAGS = frozenset({"-B", "-E", "-I", "-P", "-S", "-s", "-u"})  # that change nothing here
_IGNORED = frozenset({"bufsize", "close_fds", "restore_signals", "start_new_session"})
_KNOWN = frozenset(
    "cwd encoding env errors shell stderr stdin stdout text universal_newlines".split()
)
_STREAMS = (None, PIPE, DEVNULL)


def _refuse(who: str) -> NoReturn:
    raise PermissionError(f"[BJ502] subprocess.{who}() {_WHY}")


def _text_of(value: Any, what: str) -> str:
    """A plain str, of a str or a path."""
    if not is_a(value, str):
        value = os.fspath(value)
    if not is_a(value, str):
        raise TypeError(f"{what} must be str or a path, not {type(value).__name__}")
    return str.__str__(value)


class _Program:
    """One that is to be started. No guest gets it."""

    def __init__(self, who: str, args: Any, more: tuple[Any, ...], options: Any) -> None:
        if more or options.get("shell") or type(args) not in (list, tuple):
            _refuse(who)
        for name in options.keys() - _KNOWN - _IGNORED:
            raise TypeError(f"[BJ502] subprocess.{who}() has no option {name!r} here")
        self.who = who
        self.args = args
        words = [_text_of(each, "a command's part") for each in args]
        if not words or words[0] not in (running.executable, "python", "python3"):
            _refuse(who)
        del words[0]
        while words and words[0] in _FLAGS:
            del words[0]
        self.is_text = bool(options.get("text") or options.get("universal_newlines"))
        self.encoding, self.errors = options.get("encoding"), options.get("errors")
        if self.encoding is not None or self.errors is not None:
            self.is_text = True
        self.stdin = options.get("stdin")
        self.stdout, self.stderr = options.get("stdout"), options.get("stderr")
        is_known = self.stdin in _STREAMS and self.stdout in _STREAMS
        if not is_known or self.stderr not in (*_STREAMS, STDOUT):
            raise ValueError(f"[BJ502] subprocess.{who}(): streams are PIPE, DEVNULL and STDOUT")
        self.environment = _environment(options.get("env"))
        self._read(words, options.get("cwd"))

    def _read(self, words: list[str], folder: Any) -> None:
        """Code, its name, and the arguments after it."""
        self.source: str | None = None
        self.name = "<stdin>"
        if not words or words[0] == "-":
            self.arguments = words[1:]
        elif words[0] == "-c" and len(words) > 1:
            self.source, self.name, self.arguments = words[1], "<string>", words[2:]
        elif words[0][0:1] == "-":
            _refuse(self.who)
        else:
            path = words[0] if folder is None else os.path.join(_text_of(folder, "cwd"), words[0])
            opens = running.scope["__builtins__"].get("open")
            if opens is None:
                raise PermissionError(
                    f"[BJ502] subprocess.{self.who}(): reads no file in this profile; give the "
                    "code after '-c'"
                )
            with opens(path, encoding="utf-8") as file:
                self.source = _text_of(file.read(), "a file's text")
            self.name, self.arguments = os.path.basename(path), words[1:]

    def run(self, sent: Any, timeout: Any) -> tuple[int, Any, Any]:
        """Exit code and output."""
        if timeout is not None and type(timeout) not in (int, float):
            raise TypeError("timeout must be a number of seconds")
        data = self._encoded(sent)
        source = self.source
        if source is None:
            source, data = ("" if data is None else data.decode("utf-8")), None
        if running.start_python is None:
            raise PermissionError(f"[BJ502] subprocess.{self.who}() {_NOT_HERE}")
        code, is_late, out, err = running.start_python(
            source, self.name, self.arguments, self.environment, data, timeout
        )
        if self.stderr == STDOUT:
            out, err = out + err, None
        out = self._taken(out, self.stdout, "stdout")
        err = None if err is None else self._taken(err, self.stderr, "stderr")
        if is_late:
            raise TimeoutExpired(self.args, timeout, out, err)
        return code, out, err

    def _encoded(self, sent: Any) -> bytes | None:
        if sent is None:
            return None
        if self.is_text:
            if not is_a(sent, str):
                raise TypeError("input must be str, since the program's streams are text")
            text = str.__str__(sent)
            return text.encode(self.encoding or "utf-8", self.errors or "strict")
        if type(sent) not in (bytes, bytearray):
            raise TypeError("input must be bytes, since the program's streams are not text")
        return bytes(sent)

    def _taken(self, data: bytes, where: Any, stream: str) -> Any:
        if where == DEVNULL:
            return None
        if where == PIPE and not self.is_text:
            return data
        text = data.decode(self.encoding or "utf-8", self.errors or "strict")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if where == PIPE:
            return text
        getattr(sys, stream).write(text)
        return None


def _environment(given: Any) -> list[str] | None:
    if given is None:
        return None
    pairs = [(_text_of(name, "a variable"), given[name]) for name in list(given)]
    return [f"{name}={_text_of(value, 'a variable')}" for name, value in pairs]


def _run(
    who: str,
    args: Any,
    more: tuple[Any, ...],
    options: dict[str, Any],
    sent: Any = None,
    timeout: Any = None,
) -> CompletedProcess:
    program = _Program(who, args, more, options)
    return CompletedProcess(args, *program.run(sent, timeout))


def run(
    args: Any,
    *more: Any,
    input: Any = None,  # noqa: A002 (the library's name)
    capture_output: Any = False,
    timeout: Any = None,
    check: Any = False,
    **options: Any,
) -> CompletedProcess:
    """Runs Python code in a jar of its own: [sys.executable, "-c", code], or with a file."""
    if capture_output:
        options["stdout"] = options["stderr"] = PIPE
    done = _run("run", args, more, options, input, timeout)
    if check:
        done.check_returncode()
    return done


def call(args: Any, *more: Any, timeout: Any = None, **options: Any) -> int:
    """Likewise; returns the exit code."""
    code: int = _run("call", args, more, options, None, timeout).returncode
    return code


def check_call(args: Any, *more: Any, timeout: Any = None, **options: Any) -> int:
    """Likewise; raises CalledProcessError for another exit code than 0."""
    _run("check_call", args, more, options, None, timeout).check_returncode()
    return 0


def check_output(
    args: Any,
    *more: Any,
    input: Any = None,  # noqa: A002
    timeout: Any = None,
    **options: Any,
) -> Any:
    """Likewise; returns what the program has written."""
    options["stdout"] = PIPE
    done = _run("check_output", args, more, options, input, timeout)
    done.check_returncode()
    return done.stdout


@its_own_only
class Popen:
    """Python code in a jar of its own. It runs when it is waited for: in communicate(), wait() or
    poll()."""

    def __init__(self, args: Any, *more: Any, **options: Any) -> None:
        self._program = _Program("Popen", args, more, options)
        self._output: tuple[Any, Any] = (None, None)
        self.args = args
        self.returncode: int | None = None

    def communicate(
        self,
        input: Any = None,  # noqa: A002
        timeout: Any = None,
    ) -> tuple[Any, Any]:
        """Runs it; returns what it has written to stdout and stderr."""
        if self.returncode is None:
            try:
                self.returncode, *output = self._program.run(input, timeout)
            except TimeoutExpired as error:  # it has ended, and would not again
                self.returncode, output = -9, [error.output, error.stderr]
                raise
            finally:
                if self.returncode is not None:
                    self._output = (output[0], output[1])
        return self._output

    def wait(self, timeout: Any = None) -> int | None:
        """Runs it; returns its exit code."""
        self.communicate(None, timeout)
        return self.returncode

    def poll(self) -> int | None:
        """As wait(): it is never seen while it runs."""
        return self.wait()

    def kill(self) -> None:
        """It does not run any more."""
        if self.returncode is None:
            self.returncode = -9

    def terminate(self) -> None:
        """As kill()."""
        self.kill()

    def __enter__(self) -> Popen:
        return self

    def __exit__(self, *_: Any) -> None:
        self.wait()


_function = partial(refusing.function, why=_WHY)

getoutput = _function("subprocess.getoutput")
getstatusoutput = _function("subprocess.getstatusoutput")
