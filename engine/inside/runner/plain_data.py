"""Plain data as JSON and back: the result, the variables that a program is given, and what it says
to functions of the host's.

Plain data is None, bool, int, float, str, bytes, list, tuple, dict, set and frozenset, of exactly
these types, all the way down. Anything else, a cycle included, has no JSON form: no method of the
guest's is ever called to make one.

    Python                                      JSON
    None, bool, str, list, finite float         itself
    tuple                                       array; exact: {"$type": "tuple", "items": […]}
    int up to ±(2**53 - 1)                      number
    any other int                               {"$type": "int", "value": "<decimal>"}
      past CPython's limit of digits            {"$type": "int", "hex": "0x…"}
    nan, inf, -inf                              {"$type": "float", "value": "nan"}
    bytes                                       {"$type": "bytes", "base64": "…"}
    set, frozenset                              {"$type": "set", "items": […]}
      frozenset, exact                          {"$type": "frozenset", "items": […]}
    dict with only plain keys                   object
    any other dict                              {"$type": "dict", "items": [[key, value], …]}
      exact: where its keys are not sorted too
    numpy's bool, integers and floats           as bool, int, float; an array of them as lists
    pandas.Timestamp                            str, ISO 8601; NaT and NA: null
    str with lone surrogates                    {"$type": "str",
                                                 "utf8_surrogatepass_base64": "…"}

A plain key is a str without lone surrogates that does not start with "$", so no guest's dict can
pass for one of the tagged forms. The JSON nests at most 64 deep. "exact" is for readers that have
tuples and frozensets of their own, and dicts in an order.
"""

import sys
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from json.encoder import encode_basestring
from math import isfinite
from typing import Any

MAX_DEPTH = 64

_MAX_SAFE_INTEGER = 2**53 - 1
# 10**4300 - 1, the longest int that CPython turns into decimal by default, has 14285 bits.
_MAX_DECIMAL_BITS = 14284


class _NotPlain(Exception):
    pass


class _TooLarge(Exception):
    pass


def encode(
    value: object, max_bytes: int, exact: bool = False, max_depth: int = MAX_DEPTH
) -> tuple[str | None, bool]:
    """The JSON text of `value`, or None; and whether it was its size that forbade it.

    Raises:
        RecursionError: Too little of the stack is left.
    """
    writer = _Writer(max_bytes, exact)
    try:
        writer.write(value, max_depth)
    except _TooLarge:
        return None, True
    except RecursionError:
        raise
    except (_NotPlain, RuntimeError):  # RuntimeError: a thread of the guest changed it meanwhile
        return None, False
    return "".join(writer.chunks), False


class _Writer:
    """Collects the text in pieces, and stops as soon as there is too much of it."""

    __slots__ = ("chunks", "exact", "left")

    def __init__(self, max_bytes: int, exact: bool) -> None:
        self.chunks: list[str] = []
        self.left = max_bytes  # bytes
        self.exact = exact

    def write(self, value: object, depth: int) -> None:
        """Writes `value` with at most `depth` levels of nesting."""
        # By the type's identity: a dict of types would ask a guest's metaclass for its hash.
        write = _WRITERS.get(id(type(value)))
        if write is None:
            raise _NotPlain
        write(self, value, depth)

    def _emit(self, ascii_text: str) -> None:
        self.left -= len(ascii_text)
        if self.left < 0:
            raise _TooLarge
        self.chunks.append(ascii_text)

    def _require(self, size: int) -> None:
        """Gives up early on what cannot take less than `size` bytes."""
        if size > self.left:
            raise _TooLarge

    def _tagged(self, ascii_json: str, depth: int) -> None:
        if depth < 1:
            raise _NotPlain
        self._emit(ascii_json)

    def _constant(self, value: bool | None, _depth: int) -> None:
        self._emit("null" if value is None else "true" if value else "false")

    def _int(self, value: int, depth: int) -> None:
        if -_MAX_SAFE_INTEGER <= value <= _MAX_SAFE_INTEGER:
            self._emit(repr(value))
            return
        self._require(value.bit_length() // 4)
        if value.bit_length() <= _MAX_DECIMAL_BITS:
            try:
                return self._tagged(f'{{"$type":"int","value":"{value}"}}', depth)
            except ValueError:
                pass  # the guest has lowered the limit of digits
        self._tagged(f'{{"$type":"int","hex":"{value:#x}"}}', depth)

    def _float(self, value: float, depth: int) -> None:
        if isfinite(value):
            self._emit(repr(value))
        else:
            self._tagged(f'{{"$type":"float","value":"{value!r}"}}', depth)

    def _str(self, value: str, depth: int) -> None:
        self._require(len(value))
        if not value.isascii():
            try:
                # What UTF-8 takes beyond one byte a character, which _emit counts.
                self.left -= len(value.encode()) - len(value)
            except UnicodeEncodeError:
                encoded = b2a_base64(value.encode("utf-8", "surrogatepass"), newline=False).decode()
                tagged = f'{{"$type":"str","utf8_surrogatepass_base64":"{encoded}"}}'
                return self._tagged(tagged, depth)
        self._emit(encode_basestring(value))

    def _bytes(self, value: bytes, depth: int) -> None:
        self._require(len(value) // 3 * 4)
        encoded = b2a_base64(value, newline=False).decode()
        self._tagged(f'{{"$type":"bytes","base64":"{encoded}"}}', depth)

    def _array(self, items: list | tuple | set | frozenset, depth: int) -> None:
        if depth < 1:
            raise _NotPlain
        self._require(2 * len(items))
        separator = "["
        for item in items:
            self._emit(separator)
            self.write(item, depth - 1)
            separator = ","
        self._emit("]" if separator == "," else "[]")

    def _tuple(self, items: tuple, depth: int) -> None:
        if self.exact:
            self._items("tuple", items, depth)
        else:
            self._array(items, depth)

    def _set(self, items: set, depth: int) -> None:
        self._items("set", items, depth)

    def _frozenset(self, items: frozenset, depth: int) -> None:
        self._items("frozenset" if self.exact else "set", items, depth)

    def _items(self, name: str, items: tuple | set | frozenset, depth: int) -> None:
        self._tagged(f'{{"$type":"{name}","items":', depth)
        self._array(items, depth - 1)
        self._emit("}")

    def _dict(self, items: dict, depth: int) -> None:
        if depth < 1:
            raise _NotPlain
        self._require(5 * len(items))
        is_plain = all(map(_is_plain_key, items))
        # Readers of JSON, the host's own among them, may put an object's keys in another order.
        if not is_plain or (self.exact and list(items) != sorted(items)):
            self._emit('{"$type":"dict","items":')
            self._pairs(items, depth - 1)
            self._emit("}")
            return
        separator = "{"
        for key, value in items.items():
            self._emit(separator)
            self._str(key, 0)
            self._emit(":")
            self.write(value, depth - 1)
            separator = ","
        self._emit("}" if separator == "," else "{}")

    def _pairs(self, items: dict, depth: int) -> None:
        if depth < 1:
            raise _NotPlain
        separator = "["
        for pair in items.items():
            self._emit(separator)
            self._array(pair, depth - 1)
            separator = ","
        self._emit("]")


def _write_scalar(writer: _Writer, value: Any, depth: int) -> None:
    writer.write(_item_of(value), depth)


def _write_array(writer: _Writer, value: Any, depth: int) -> None:
    if _kind_of(_dtype_of(value)) not in "biufU":
        raise _NotPlain
    writer._require(2 * _size_of(value))
    writer.write(_list_of(value), depth)


def _write_time(writer: _Writer, value: Any, _depth: int) -> None:
    writer._emit(encode_basestring(_isoformat(value)))


def _write_null(writer: _Writer, _value: Any, _depth: int) -> None:
    writer._emit("null")


_item_of = _dtype_of = _kind_of = _size_of = _list_of = _isoformat = lambda value: value


def know_packages() -> None:
    """Zygote: the types of the packages that are loaded, with the methods of their classes."""
    global _item_of, _dtype_of, _kind_of, _size_of, _list_of, _isoformat  # noqa: PLW0603
    if numpy := sys.modules.get("numpy"):
        _item_of = numpy.generic.item
        array = numpy.ndarray
        _dtype_of, _size_of = array.dtype.__get__, array.size.__get__
        _list_of, _kind_of = array.tolist, numpy.dtype.kind.__get__
        # Not longdouble: its item() is one again.
        names = (
            "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 str_"
        )
        for name in names.split():
            _WRITERS[id(getattr(numpy, name))] = _write_scalar
        _WRITERS[id(array)] = _write_array
    if pandas := sys.modules.get("pandas"):
        _isoformat = pandas.Timestamp.isoformat
        _WRITERS[id(pandas.Timestamp)] = _write_time
        _WRITERS[id(type(pandas.NaT))] = _WRITERS[id(type(pandas.NA))] = _write_null


def _is_plain_key(key: object) -> bool:
    if type(key) is not str or key[:1] == "$":
        return False
    if key.isascii():
        return True
    try:
        key.encode()
    except UnicodeEncodeError:
        return False
    return True


# The types live as long as the interpreter, so their ids are theirs alone.
_WRITERS: dict[int, Callable[[_Writer, Any, int], None]] = {
    id(type(None)): _Writer._constant,
    id(bool): _Writer._constant,
    id(int): _Writer._int,
    id(float): _Writer._float,
    id(str): _Writer._str,
    id(bytes): _Writer._bytes,
    id(list): _Writer._array,
    id(tuple): _Writer._tuple,
    id(set): _Writer._set,
    id(frozenset): _Writer._frozenset,
    id(dict): _Writer._dict,
}


def decode(form: Any) -> Any:
    """What `encode` has written, read by json.loads, as the values that it was made of: of the
    host's own writing, so what is not that form is an error of any kind.
    """
    if type(form) is list:
        return [decode(item) for item in form]
    if type(form) is not dict:
        return form
    if "$type" not in form:
        return {key: decode(value) for key, value in form.items()}
    return _READERS[form["$type"]](form)


def _items_of(form: dict[str, Any]) -> list[Any]:
    return [decode(item) for item in form["items"]]


_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "int": lambda form: int(form["value"]) if "value" in form else int(form["hex"], 16),
    "float": lambda form: float(form["value"]),
    "bytes": lambda form: a2b_base64(form["base64"]),
    "str": lambda form: a2b_base64(form["utf8_surrogatepass_base64"]).decode(
        "utf-8", "surrogatepass"
    ),
    "tuple": lambda form: tuple(_items_of(form)),
    "set": lambda form: set(_items_of(form)),
    "frozenset": lambda form: frozenset(_items_of(form)),
    "dict": lambda form: dict(_items_of(form)),
}
