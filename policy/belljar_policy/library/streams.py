"""The standard streams as guests see them."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import Any

import _belljar_guards as guards

from .objects import its_own_only


@its_own_only
class ByteStream:
    """The bytes below a TextStream: sys.stdin.buffer and similar streams."""

    __slots__ = ("_stream", "name")

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self.name = name

    closed = False

    def write(self, data: Any) -> int:
        """Writes bytes; returns how many."""
        if isinstance(data, str):
            raise TypeError("a bytes-like object is required, not 'str'")
        view = memoryview(data)
        self._stream.write(bytes(view))
        return view.nbytes

    def flush(self) -> None:
        """Hands what was written on."""
        self._stream.flush()

    def read(self, size: int = -1) -> bytes:
        """Reads up to `size` bytes, or all."""
        return self._stream.read(size)

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

    def __repr__(self) -> str:
        return f"<ByteStream {self.name}>"


ByteStream.__module__ = "io"  # as a program sees it


class TextStream:
    """sys.stdout, stderr and stdin for a guest, without access to a descriptor."""

    __slots__ = ("_stream", "name")

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self.name = name

    __module__ = "io"  # as a program sees it
    encoding = "utf-8"
    errors = "strict"
    closed = False
    newlines = None

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

    def flush(self) -> None:
        """Hands what was written on."""
        self._stream.flush()

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
        return ByteStream(self._stream.buffer, self.name)

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

    def fileno(self) -> int:
        """There are no descriptors."""
        raise io.UnsupportedOperation("[BJ502] streams have no file descriptor")

    def __repr__(self) -> str:
        return f"<TextStream {self.name}>"


def of_interpreter(name: str) -> Any:
    """sys.<name> for a guest."""
    current = sys.__dict__.get(name)
    if current is None or guards.is_guest_class(type(current)) or type(current) in _OWN_STREAMS:
        return current
    return TextStream(current, f"<{name}>")


_OWN_STREAMS = frozenset({io.StringIO, TextStream, ByteStream})


def protect() -> None:
    """Before a guest runs: replaces the interpreter's streams, which give access to descriptors.

    Library code exposes sys.stdout: pprint.PrettyPrinter.__init__(obj) stores it in obj._stream. A
    FileIO below it could be reopened with any path through its __init__.
    """
    for name in ("stdin", "stdout", "stderr"):
        stream = sys.__dict__.get(name)
        if type(stream) is io.TextIOWrapper and type(stream.buffer) is not io.BytesIO:
            setattr(sys, name, TextStream(stream, f"<{name}>"))
