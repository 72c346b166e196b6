"""Plain data as JSON: the values passed between a program and its caller.

Plain data is None, bool, int, float, str, bytes, list, tuple, dict, set and frozenset, of exactly
these types, at every level. The encoding is that of results (docs/python.md, "Values").

The input of `decode` is untrusted. It builds only these types, in time and memory proportional to
the text, or raises `MalformedError`; it never returns part of a value.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from math import isinf, isnan
from time import thread_time
from typing import Any, Final

from belljar import _host

MAX_DEPTH: Final = 64

_SAFE_INTEGER = 2**53 - 1
# CPython's default maximum for converting a str to an int, which takes quadratic time.
_MAX_DIGITS = 4300
_MAX_DECIMAL_BITS = 14284
# How many items of a set may have the same hash. A program can choose ints with equal hashes, and a
# set of them takes quadratic time.
_MAX_ALIKE = 64
# Different hashes can still share a probe sequence in tables of some size. Larger sets are
# therefore filled in chunks of this size, within a time limit far above what ordinary items need.
_CHUNK = 1000
_MAX_SECONDS = 0.5
_MAX_SECONDS_AN_ITEM = 5e-6


class MalformedError(ValueError):
    """The text is not the JSON form of plain data."""


# --- reading --------------------------------------------------------------------------------------


def decode(text: str) -> Any:
    """Decodes the JSON form of a value.

    >>> decode('{"a": [1, {"$type": "bytes", "base64": "AP8="}]}')
    {'a': [1, b'\\x00\\xff']}
    """
    try:
        return _host.read_plain(text, read_tagged)
    except MalformedError:
        raise
    except ValueError as error:
        raise MalformedError(str(error)) from error


def read_tagged(made: dict[str, Any]) -> Any:
    """The value of an object that has a key beginning with $."""
    name = made.pop("$type", None)
    read = _READERS.get(name) if type(name) is str else None
    if read is None or len(made) != 1:
        raise MalformedError("unknown $type")
    ((key, value),) = made.items()
    return read(key, value)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise MalformedError("not a string")
    return value


_DECIMAL = re.compile(r"-?[0-9]+", re.ASCII)
_HEXADECIMAL = re.compile(r"-?0x[0-9a-f]+", re.ASCII)


def _read_int(key: str, value: Any) -> int:
    digits = _text(value)
    if key == "value" and len(digits) <= _MAX_DIGITS + 1 and _DECIMAL.fullmatch(digits):
        # In pieces that every sys.set_int_max_str_digits limit allows.
        number = 0
        for start in range(digits.startswith("-"), len(digits), 600):
            piece = digits[start : start + 600]
            number = number * 10 ** len(piece) + int(piece)
        return -number if digits.startswith("-") else number
    if key == "hex" and _HEXADECIMAL.fullmatch(digits):
        return int(digits, 16)
    raise MalformedError("not the form of an int")


_FLOATS = frozenset({"nan", "inf", "-inf"})


def _read_float(key: str, value: Any) -> float:
    if key != "value" or _text(value) not in _FLOATS:
        raise MalformedError("not the form of a float")
    return float(value)  # a new object each time: two NaNs in a set must stay two


def _read_bytes(key: str, value: Any) -> bytes:
    if key not in ("base64", "utf8_surrogatepass_base64"):
        raise MalformedError("not the form of bytes")
    try:
        return b64decode(_text(value), validate=True)
    except ValueError as error:
        raise MalformedError("not base64") from error


def _read_str(key: str, value: Any) -> str:
    if key != "utf8_surrogatepass_base64":
        raise MalformedError("not the form of a str")
    try:
        return _read_bytes(key, value).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise MalformedError("not UTF-8 with surrogates") from error


def _items(key: str, value: Any) -> list[Any]:
    if key != "items" or type(value) is not list:
        raise MalformedError("items are missing")
    return value


def _check_hashes(items: Iterable[Any], count: int) -> None:
    try:
        if count <= _MAX_ALIKE:
            return
        hashes = sorted(map(hash, items))
    except TypeError as error:
        raise MalformedError("unhashable item") from error
    alike = zip(hashes, hashes[_MAX_ALIKE:], strict=False)
    if any(one == other for one, other in alike):
        raise MalformedError("too many items with the same hash")


def _chunks(items: list[Any]) -> Iterator[list[Any]]:
    """Yields chunks; the caller inserts each one before it takes the next."""
    if len(items) <= _CHUNK:
        yield items
        return
    until = thread_time() + _MAX_SECONDS + len(items) * _MAX_SECONDS_AN_ITEM
    for start in range(0, len(items), _CHUNK):
        if thread_time() > until:
            raise MalformedError("items of chosen hashes")
        yield items[start : start + _CHUNK]


def _read_tuple(key: str, value: Any) -> tuple[Any, ...]:
    return tuple(_items(key, value))


def _read_set(key: str, value: Any) -> set[Any]:
    items = _items(key, value)
    _check_hashes(items, len(items))
    made: set[Any] = set()
    try:
        for chunk in _chunks(items):
            made.update(chunk)
    except TypeError as error:
        raise MalformedError("unhashable item") from error
    if len(made) != len(items):
        raise MalformedError("duplicate item")
    return made


def _read_frozenset(key: str, value: Any) -> frozenset[Any]:
    _read_set(key, value)
    # Built from the items again, so that its tables have the sizes just tested; a copy's may not.
    return frozenset(value)


def _read_dict(key: str, value: Any) -> dict[Any, Any]:
    items = _items(key, value)
    if not all(type(pair) is list and len(pair) == 2 for pair in items):
        raise MalformedError("a pair is missing")
    _check_hashes((pair[0] for pair in items), len(items))
    made: dict[Any, Any] = {}
    try:
        for chunk in _chunks(items):
            made.update(chunk)
    except TypeError as error:
        raise MalformedError("unhashable key") from error
    if len(made) != len(items):
        raise MalformedError("duplicate key")
    return made


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "int": _read_int,
    "float": _read_float,
    "bytes": _read_bytes,
    "str": _read_str,
    "tuple": _read_tuple,
    "set": _read_set,
    "frozenset": _read_frozenset,
    "dict": _read_dict,
}


# --- writing --------------------------------------------------------------------------------------


def encode(value: object, what: str) -> str:
    """Encodes `value` as JSON; `what` is its name in error messages.

    >>> encode({"a": (1, b"x")}, "inputs")
    '{"a":{"$type":"tuple","items":[1,{"$type":"bytes","base64":"eA=="}]}}'

    Raises:
        TypeError: The value is not plain data.
        ValueError: The value is nested too deeply or contains itself.
    """
    import json  # not needed for decoding, and most runs have no inputs

    try:
        form = _form(value, MAX_DEPTH)
    except _NotPlainError as error:
        raise error.at(_place(value, what)) from None
    return json.dumps(
        form, ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
    )


class _NotPlainError(Exception):
    """`type` is the unsupported type; None: the value is nested too deeply."""

    def __init__(self, found: type | None) -> None:
        self.type = found

    def at(self, place: str) -> Exception:
        if self.type is None:
            return ValueError(
                f"{place} nests more than {MAX_DEPTH} levels deep (a list or a dict with str keys "
                "counts one, a tuple or set two, another dict three), or contains itself"
            )
        return TypeError(
            f"{place} is a {self.type.__name__}; only plain data is supported: None, bool, int, "
            "float, str, bytes, list, tuple, dict, set and frozenset, but no subclasses"
        )


def _form(value: object, depth: int) -> Any:
    write = _WRITERS.get(type(value))
    if write is None:
        raise _NotPlainError(type(value))
    if depth < 0:
        raise _NotPlainError(None)
    return write(value, depth)


def _place(value: Any, what: str) -> str:
    """The path to the part of `value` that is not plain data."""
    if type(value) in (list, tuple):
        parts = [(item, f"{what}[{index}]") for index, item in enumerate(value)]
    elif type(value) is dict:
        parts = [(key, f"a key of {what}") for key in value]
        parts += [(item, f"{what}[{key!r}]") for key, item in value.items()]
    elif type(value) in (set, frozenset):
        parts = [(item, f"an item of {what}") for item in value]
    else:
        return what
    for part, place in parts:
        try:
            _form(part, MAX_DEPTH)
        except _NotPlainError as error:
            return what if error.type is None else _place(part, place)
    return what


def _tag(name: str, key: str, value: Any) -> dict[str, Any]:
    return {"$type": name, key: value}


def _write_same(value: Any, _depth: int) -> Any:
    return value


def _write_int(value: int, _depth: int) -> Any:
    if -_SAFE_INTEGER <= value <= _SAFE_INTEGER:
        return value
    return _tag("int", "hex", f"{value:#x}")


def _write_float(value: float, _depth: int) -> Any:
    return _tag("float", "value", repr(value)) if isinf(value) or isnan(value) else value


def _is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _write_str(value: str, _depth: int) -> Any:
    if _is_utf8(value):
        return value
    encoded = b64encode(value.encode("utf-8", "surrogatepass")).decode()
    return _tag("str", "utf8_surrogatepass_base64", encoded)


def _write_bytes(value: bytes, _depth: int) -> Any:
    return _tag("bytes", "base64", b64encode(value).decode())


def _write_list(value: list[Any], depth: int) -> Any:
    return [_form(item, depth - 1) for item in value]


def _write_items(value: tuple[Any, ...] | set[Any] | frozenset[Any], depth: int) -> Any:
    return _tag(type(value).__name__, "items", [_form(item, depth - 2) for item in value])


def _write_dict(value: dict[Any, Any], depth: int) -> Any:
    if all(type(key) is str and key[:1] != "$" and _is_utf8(key) for key in value):
        return {key: _form(item, depth - 1) for key, item in value.items()}
    pairs = [[_form(key, depth - 3), _form(item, depth - 3)] for key, item in value.items()]
    return _tag("dict", "items", pairs)


_WRITERS: dict[type, Callable[[Any, int], Any]] = {
    type(None): _write_same,
    bool: _write_same,
    int: _write_int,
    float: _write_float,
    str: _write_str,
    bytes: _write_bytes,
    list: _write_list,
    tuple: _write_items,
    set: _write_items,
    frozenset: _write_items,
    dict: _write_dict,
}
