"""codecs, for guests: encoding and decoding; no files, and no codecs of the program's own.

The library's lookup() hands out stream classes, which forward any attribute to what they wrap.
"""

from __future__ import annotations

import builtins
import codecs
from collections.abc import Callable
from typing import Any

from .objects import its_own_only


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
