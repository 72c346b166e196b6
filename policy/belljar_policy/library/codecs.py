"""codecs, for guests: encoding and decoding; no codecs of the program's own.

The library's lookup() hands out stream classes, which forward any attribute to what they wrap. Here
getreader() and getwriter() make an io.TextIOWrapper.
"""

from __future__ import annotations

import builtins
import codecs
import io
from collections.abc import Callable
from typing import Any

from .objects import is_a, its_own_only


@its_own_only
class CodecInfo:
    """The two functions of a codec."""

    __slots__ = ("decode", "encode", "name")

    def __init__(self, name: str, encode: Any, decode: Any) -> None:
        self.name, self.encode, self.decode = name, encode, decode

    def __repr__(self) -> str:
        return f"<codecs.CodecInfo object for encoding {self.name}>"


def _plain(encoding: Any) -> str:
    if type(encoding) is not str:
        raise TypeError(f"lookup() argument must be str, not {type(encoding).__name__}")
    return encoding


def lookup(encoding: str) -> CodecInfo:
    """The codec of that name; LookupError if there is none."""
    name = codecs.lookup(_plain(encoding)).name
    return CodecInfo(name, getencoder(name), getdecoder(name))


def getencoder(encoding: str) -> Callable:
    """A function that encodes, and says how much."""
    name = codecs.lookup(_plain(encoding)).name

    def encode(input: Any, errors: str = "strict") -> tuple[Any, int]:
        return codecs.encode(input, name, errors), len(input)

    return encode


def getdecoder(encoding: str) -> Callable:
    """A function that decodes, and says how much."""
    name = codecs.lookup(_plain(encoding)).name

    def decode(input: Any, errors: str = "strict") -> tuple[Any, int]:
        return codecs.decode(input, name, errors), len(input)

    return decode


def _text_encoding(encoding: Any) -> str:
    info = codecs.lookup(_plain(encoding))
    if not info._is_text_encoding:  # type: ignore[attr-defined]
        raise LookupError(f"{info.name!r} is not a text encoding; use codecs.encode() or decode()")
    return info.name


@its_own_only
class _Incremental:
    """An incremental encoder or decoder of the library, without its state."""

    __slots__ = ("_codec",)

    def __init__(self, codec: Any) -> None:
        self._codec = codec

    def decode(self, input: Any, final: Any = False) -> str:
        """The text of the bytes so far; `final` after the last of them."""
        return self._codec.decode(bytes(memoryview(input)), bool(final))

    def encode(self, input: Any, final: Any = False) -> bytes:
        """The bytes of a text."""
        if not is_a(input, str):
            raise TypeError(f"encode() argument must be str, not {type(input).__name__}")
        return self._codec.encode(str.__str__(input), bool(final))

    def reset(self) -> None:
        """Forgets what is incomplete."""
        self._codec.reset()


def getincrementaldecoder(encoding: str) -> Callable:
    """A function that makes decoders for bytes that arrive in pieces."""
    name = _text_encoding(encoding)

    def decoder(errors: str = "strict") -> _Incremental:
        return _Incremental(codecs.getincrementaldecoder(name)(errors))

    return decoder


def getincrementalencoder(encoding: str) -> Callable:
    """A function that makes encoders, which write a byte order mark once."""
    name = _text_encoding(encoding)

    def encoder(errors: str = "strict") -> _Incremental:
        return _Incremental(codecs.getincrementalencoder(name)(errors))

    return encoder


def getreader(encoding: str) -> Callable:
    """A function that makes a text stream of a binary one."""
    name = _text_encoding(encoding)

    def reader(stream: Any, errors: str = "strict") -> Any:
        return io.TextIOWrapper(stream, name, errors, "")

    return reader


def getwriter(encoding: str) -> Callable:
    """A function that makes a text stream of a binary one; what is written arrives at once."""
    name = _text_encoding(encoding)

    def writer(stream: Any, errors: str = "strict") -> Any:
        return io.TextIOWrapper(stream, name, errors, "", write_through=True)

    return writer


def open(  # noqa: A001
    filename: Any,
    mode: Any = "r",
    encoding: Any = None,
    errors: Any = "strict",
    buffering: Any = -1,
) -> Any:
    """A file of the workspace. Lines end as they do in it, as with the library's version, whose
    files forward any attribute to what they wrap."""
    if encoding is None:
        return builtins.open(filename, mode, buffering)
    name = codecs.lookup(_plain(encoding)).name
    return builtins.open(filename, mode.replace("b", ""), buffering, name, errors, "")


# The interpreter encodes its own output with these.
_BUILT_IN = frozenset({
    "strict", "ignore", "replace", "xmlcharrefreplace", "backslashreplace", "namereplace",
    "surrogateescape", "surrogatepass",
})  # fmt: skip


def register_error(errors: str, handler: Any) -> None:
    """A handler of the program's own, under a name that is not the interpreter's."""
    if type(errors) is not str or errors in _BUILT_IN:
        raise ValueError("[BJ502] register_error() takes a name that Python does not use itself")
    codecs.register_error(errors, handler)
