"""The standard streams as guests see them.

A program may assign its own objects to sys.stdin, stdout and stderr, and back. This gives it
nothing new: contextlib.redirect_stdout does the same, and what runs after the program expects any
object there. The numbers 0, 1 and 2 stand for the streams that the program started with, in open(),
os.read() and similar functions. No descriptor is behind them.
"""

from __future__ import annotations

import io
import stat
import sys
from collections.abc import Iterator
from os import devnull, stat_result
from typing import Any

import _belljar_guards as guards

from . import descriptors
from .objects import its_own_only


@its_own_only
class _Stream:
    """What the streams of text and of bytes have in common."""

    __slots__ = ("_stream", "name")

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self.name = name

    closed = False

    def fileno(self) -> int:
        """The stream's number."""
        return _NUMBERS[self.name]

    def isatty(self) -> bool:
        """There is no terminal."""
        return False

    def readable(self) -> bool:
        """True for stdin."""
        return self.name == "<stdin>"

    def writable(self) -> bool:
        """True for stdout and stderr."""
        return self.name != "<stdin>"

    def seekable(self) -> bool:
        """The streams are not seekable."""
        return False

    def close(self) -> None:
        """Has no effect: the stream remains open for those who have it under another name."""

    def flush(self) -> None:
        """Hands what was written on."""
        self._stream.flush()

    def __exit__(self, *_: object) -> None:
        self._stream.flush()


@its_own_only
class ByteStream(_Stream):
    """The bytes below a TextStream: sys.stdin.buffer and similar streams."""

    __slots__ = ()

    @property
    def mode(self) -> str:
        """How the stream was opened."""
        return "rb" if self.name == "<stdin>" else "wb"

    def write(self, data: Any) -> int:
        """Writes bytes; returns how many."""
        if isinstance(data, str):
            raise TypeError("a bytes-like object is required, not 'str'")
        view = memoryview(data)
        self._stream.write(bytes(view))
        return view.nbytes

    def writelines(self, lines: Any) -> None:
        """Writes each of `lines`."""
        for line in lines:
            ByteStream.write(self, line)

    def read(self, size: int = -1) -> bytes:
        """Reads up to `size` bytes, or all."""
        return self._stream.read(size)

    def read1(self, size: int = -1) -> bytes:
        """The same: everything is there from the start."""
        return self._stream.read(size)

    def readinto(self, buffer: Any) -> int:
        """Reads into `buffer`; returns how many bytes."""
        view = memoryview(buffer).cast("B")
        data = self._stream.read(len(view))
        view[: len(data)] = data
        return len(data)

    def readline(self, size: int = -1) -> bytes:
        """Reads one line."""
        return self._stream.readline(size)

    def readlines(self, hint: int = -1) -> list[bytes]:
        """Reads the lines that are left."""
        return list(self._stream.readlines(hint))

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        line = self._stream.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self) -> ByteStream:
        return self

    def __repr__(self) -> str:
        return f"<ByteStream {self.name}>"


_NUMBERS = {"<stdin>": 0, "<stdout>": 1, "<stderr>": 2}
_NAMES = ("stdin", "stdout", "stderr")


@its_own_only
class TextStream(_Stream):
    """sys.stdout, stderr and stdin for a guest, without access to a descriptor."""

    __slots__ = ("_buffer",)

    def __init__(self, stream: Any, name: str) -> None:
        _Stream.__init__(self, stream, name)
        self._buffer: ByteStream | None = None

    encoding = "utf-8"
    errors = "strict"
    newlines = None
    line_buffering = True
    write_through = True

    @property
    def mode(self) -> str:
        """How the stream was opened."""
        return "r" if self.name == "<stdin>" else "w"

    def write(self, text: str) -> int:
        """Writes text; returns how many characters."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._stream.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Writes each of `lines`."""
        for line in lines:
            self.write(line)

    def read(self, size: int = -1) -> str:
        """Reads up to `size` characters, or all."""
        return self._stream.read(size)

    def readline(self, size: int = -1) -> str:
        """Reads one line."""
        return self._stream.readline(size)

    def readlines(self, hint: int = -1) -> list[str]:
        """Reads the lines that are left."""
        return list(self._stream.readlines(hint))

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._stream.readline()
        if not line:
            raise StopIteration
        return line

    @property
    def buffer(self) -> ByteStream:
        """The same stream, of bytes."""
        if type(self) is not TextStream:  # the property's fget, called with another object
            raise TypeError(f"not a stream: {type(self).__name__!r}")
        if self._buffer is None:
            self._buffer = ByteStream(self._stream.buffer, self.name)
        return self._buffer

    def detach(self) -> ByteStream:
        """The same stream, of bytes; this one remains usable."""
        return self.buffer

    def reconfigure(
        self,
        *,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        line_buffering: bool | None = None,
        write_through: bool | None = None,
    ) -> None:
        """Accepts only UTF-8; buffering options have no effect."""
        wanted = "utf8" if encoding is None else str(encoding).lower().replace("-", "")
        if wanted not in {"utf8", "utf_8"}:
            raise io.UnsupportedOperation("[BJ502] the streams are always UTF-8")

    def __enter__(self) -> TextStream:
        return self

    def __repr__(self) -> str:
        return f"<TextStream {self.name}>"


# As a program sees them.
_Stream.__module__ = ByteStream.__module__ = TextStream.__module__ = "io"
io.TextIOBase.register(TextStream)
io.BufferedIOBase.register(ByteStream)


class _Streams:
    """Of the running program; one to a process."""

    first: dict[str, Any] = {}
    """The interpreter's own, by name. There from the start of a program in a worker."""
    given: dict[str, Any] = {}
    """What the program last assigned, by name. It has these objects already."""
    shown: dict[str, TextStream] = {}
    """What the program sees of the interpreter's own."""


_streams = _Streams()


def _shown(stream: Any, name: str) -> TextStream:
    """The same object each time, as programs expect: `sys.stdout is old`."""
    found = _streams.shown.get(name)
    if found is None or found._stream is not stream:
        found = _streams.shown[name] = TextStream(stream, f"<{name}>")
    return found


def of_interpreter(name: str) -> Any:
    """sys.<name> for a guest."""
    current = sys.__dict__.get(name)
    if current is None or current is _streams.given.get(name):
        return current
    if guards.is_guest_class(type(current)) or type(current) in _OWN_STREAMS:
        return current
    return _shown(current, name)


def first(name: str) -> Any:
    """sys.__<name>__ for a guest: the stream that it started with."""
    stream = _streams.first.get(name)
    if stream is None:
        return of_interpreter(name)
    return stream if type(stream) in _OWN_STREAMS else _shown(stream, name)


def replace(name: str, stream: Any) -> tuple[Any, Any]:
    """sys.<name> = stream, by a guest. Returns what put_back() takes."""
    before = (sys.__dict__.get(name), _streams.given.get(name))
    if type(stream) is TextStream:
        stream = stream._stream  # print() is faster without the wrapper
        _streams.given.pop(name, None)
    else:
        _streams.given[name] = stream
    setattr(sys, name, stream)
    return before


def put_back(name: str, before: tuple[Any, Any]) -> None:
    """Undoes replace()."""
    stream, _streams.given[name] = before
    setattr(sys, name, stream)


_OWN_STREAMS = frozenset({io.StringIO, io.BytesIO, TextStream, ByteStream})


def protect() -> None:
    """Before a guest runs: replaces the interpreter's streams, which give access to descriptors.

    Library code exposes sys.stdout: pprint.PrettyPrinter.__init__(obj) stores it in obj._stream. A
    FileIO below it could be reopened with any path through its __init__.
    """
    _streams.given = {}
    _streams.shown = {}
    for name in _NAMES:
        stream = sys.__dict__.get(name)
        if type(stream) is io.TextIOWrapper and type(stream.buffer) is not io.BytesIO:
            setattr(sys, name, TextStream(stream, f"<{name}>"))
        _streams.first[name] = sys.__dict__.get(name)


# --- by number ------------------------------------------------------------------------------------


_PATHS = {f"/dev/{name}": number for number, name in enumerate(_NAMES)}


class _Null(io.RawIOBase):
    """/dev/null, which is no file of a profile."""

    def readable(self) -> bool:
        return True

    writable = readable

    def readinto(self, buffer: Any) -> int:
        return 0

    def write(self, data: Any) -> int:
        return len(data)


def open_null(mode: str = "r") -> Any:
    """open(os.devnull) in profiles without files."""
    if type(mode) is not str:
        raise TypeError(f"open() argument 'mode' must be str, not {type(mode).__name__}")
    stream = ByteStream(_Null(), devnull)
    return stream if "b" in mode else TextStream(io.TextIOWrapper(_Null()), devnull)


def number_of(file: Any) -> int | None:
    """The number of the stream that a program means by `file`; None if it is another file."""
    if type(file) is str:
        return _PATHS.get(file)
    return file if type(file) is int else None


def of_number(number: Any) -> ByteStream:
    """The bytes of the stream that the program started with. OSError for any other number."""
    if type(number) is not int:
        raise TypeError(f"'{type(number).__name__}' object cannot be interpreted as an integer")
    if not 0 <= number < len(_NAMES):
        raise OSError(9, "Bad file descriptor: only 0, 1 and 2 stand for streams here")
    stream = first(_NAMES[number])
    buffer = None if stream is None else stream.buffer
    if type(buffer) is ByteStream:
        return buffer
    return ByteStream(io.BytesIO() if buffer is None else buffer, f"<{_NAMES[number]}>")


def open_number(
    number: int,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
) -> Any:
    """open(0) and similar calls. The result's close() leaves a stream open."""
    if type(mode) is not str:
        raise TypeError(f"open() argument 'mode' must be str, not {type(mode).__name__}")
    if descriptors.has(number):
        return descriptors.take(number, mode, buffering, encoding, errors, newline)
    stream = of_number(number)
    kind = mode.replace("t", "").replace("b", "")
    if kind not in {"r", "w", "a"} or len(mode) - len(kind) > 1:
        raise ValueError(f"invalid mode: {mode!r}")
    if (kind == "r") != (number == 0):
        raise io.UnsupportedOperation("not readable" if kind == "r" else "not writable")
    if "b" in mode:
        return stream
    text_encoding = "utf-8" if encoding is None else encoding
    return io.TextIOWrapper(stream, text_encoding, errors, newline, write_through=True)


def status_of_number(number: Any) -> stat_result:
    """os.fstat(): a file of the given input's size, and pipes."""
    stream = of_number(number)
    size, kind = 0, stat.S_IFIFO | 0o600
    if number == 0:
        size, kind = _size_of(stream._stream), stat.S_IFREG | 0o400
    return stat_result((kind, number, 0, 1, 0, 0, size, 0, 0, 0))


def _size_of(stream: Any) -> int:
    return len(stream.getbuffer()) if type(stream) is io.BytesIO else 0
