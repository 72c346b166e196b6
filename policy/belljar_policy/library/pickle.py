"""pickle, for guests: what the program pickled, it gets back; it loads nothing else.

A pickle is a program of its own: it names classes and functions, calls them, and sets attributes on
what they return. So none is read here. dumps() keeps a deep copy of the object, made by our copy
module, and its bytes are the key of that copy; loads() gives a deep copy of it. The bytes may go
through files and variables, and mean nothing outside this process.
"""

from __future__ import annotations

import hashlib
from types import FunctionType
from typing import Any

from . import copy
from .objects import its_own_only

HIGHEST_PROTOCOL = 5
DEFAULT_PROTOCOL = 4

_BEGIN, _END = b"\x80\x04belljar\x00", b"."
_KEY_SIZE = 16
_SIZE = len(_BEGIN) + _KEY_SIZE + len(_END)
_MAX_DEPTH = 50

_kept: dict[bytes, Any] = {}


class PickleError(Exception):
    """The base of the two below."""


class PicklingError(PickleError):
    """The object cannot be pickled."""


class UnpicklingError(PickleError):
    """The bytes are no pickle of this program."""


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether the value's repr says all of it, so that equal values can have equal bytes."""
    kind = type(value)
    if kind in (type(None), bool, int, float, complex, str, bytes):
        return True
    if depth == _MAX_DEPTH:
        return False
    if kind in (list, tuple):
        return all(_is_plain(item, depth + 1) for item in value)
    return kind is dict and all(
        _is_plain(key, depth + 1) and _is_plain(item, depth + 1) for key, item in value.items()
    )


def dumps(
    obj: Any, protocol: Any = None, *, fix_imports: bool = True, buffer_callback: Any = None
) -> bytes:
    """Keeps a deep copy of the object; the bytes stand for it in loads()."""
    if type(obj) is FunctionType and "<" in obj.__qualname__:
        raise PicklingError(f"Can't pickle {obj!r}: it's not found as __main__.{obj.__qualname__}")
    try:
        made = copy.deepcopy_of(obj, freezes=True)
    except copy.Error as error:
        raise PicklingError(str(error)) from None
    text = repr(obj) if _is_plain(obj) else f"object {len(_kept)}"
    key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_SIZE).digest()
    _kept[key] = made
    return _BEGIN + key + _END


def loads(data: Any, /, **_: Any) -> Any:
    """A deep copy of what dumps() was given."""
    raw = bytes(memoryview(data))
    if not raw:
        raise EOFError("Ran out of input")
    key = raw[len(_BEGIN) : len(_BEGIN) + _KEY_SIZE]
    if not raw.startswith(_BEGIN) or key not in _kept:
        raise UnpicklingError(
            "[BJ502] only what this run of the program has pickled can be loaded, as a pickle runs "
            "code; use JSON, CSV or .npy to keep data for another run"
        )
    return copy.deepcopy(_kept[key])


def dump(
    obj: Any, file: Any, protocol: Any = None, *, fix_imports: bool = True,
    buffer_callback: Any = None,
) -> None:  # fmt: skip
    """Writes dumps(obj) to a file that the program has opened."""
    file.write(dumps(obj))


def load(file: Any, **_: Any) -> Any:
    """Reads what dump() wrote."""
    return loads(file.read(_SIZE))


@its_own_only
class Pickler:
    """dump() with the file first."""

    __slots__ = ("_file",)

    def __init__(self, file: Any, protocol: Any = None, **_: Any) -> None:
        self._file = file

    def dump(self, obj: Any) -> None:
        """Writes an object."""
        dump(obj, self._file)


@its_own_only
class Unpickler:
    """load() with the file first."""

    __slots__ = ("_file",)

    def __init__(self, file: Any, **_: Any) -> None:
        self._file = file

    def load(self) -> Any:
        """Reads an object."""
        return load(self._file)
