"""A digest of a value: two copies of a session have equal ones where their values are equal.

Equal means the same types and contents all the way down, dicts in the same order; whether two
places share one object makes no difference. What contains itself has, in that place, how far up.
Nothing is pickled and no method of the program's is called: what is not made of known types has no
digest. Nor has what is larger than one look at a session may take.
"""

import datetime
import decimal
import struct
import sys
from _blake2 import blake2b
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, CellType, CodeType, FunctionType
from typing import Any

from . import attributes
from .tracebacks import type_name

MAX_NODES = 1_000_000
MAX_BYTES = 64 << 20
MAX_DEPTH = 10_000
_MAX_REMEMBERED = 10_000
_CHUNK = 1 << 20  # bytes of an array that are copied at once
_SIZE = 16

# Of a class's namespace: made by Python or by decorators, from the rest of it.
_MADE = frozenset(
    """
    __dict__ __weakref__ __module__ __qualname__ __doc__ __firstlineno__ __static_attributes__
    __annotations__ __annotate__ __annotate_func__ __annotations_cache__ __abstractmethods__
    _abc_impl __dataclass_fields__ __dataclass_params__ __match_args__ __orig_bases__
    __parameters__ __slots__ __type_params__
    """.split()
)
_PLAIN_BASES = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol"})

_function_dict_of = FunctionType.__dict__["__dict__"].__get__


class _Unknown(Exception):
    """It has no digest."""


class _Open:
    """A value whose parts are being digested."""

    __slots__ = ("depth", "hash", "lowest", "parts", "rest", "value")

    def __init__(self, value: Any, tag: bytes, rest: Iterable[Any], is_ordered: bool) -> None:
        self.value = value
        self.depth = self.lowest = 0  # lowest: of what its parts lead back to
        self.rest = iter(rest)
        self.hash = blake2b(tag, digest_size=_SIZE)
        self.parts: list[bytes] | None = None if is_ordered else []

    def add(self, part: bytes) -> None:
        if self.parts is None:
            self.hash.update(part)
        else:
            self.parts.append(part)

    def end(self) -> bytes:
        for part in sorted(self.parts or ()):
            self.hash.update(part)
        return b"\0" + self.hash.digest()


class Digester:
    """Digests of the values of one session, at one time; all share one budget."""

    def __init__(self) -> None:
        self._nodes = MAX_NODES
        self._bytes = MAX_BYTES
        # The values too, so that no id is another's meanwhile.
        self._known: dict[int, tuple[Any, bytes]] = {}
        self._open: dict[int, _Open] = {}

    def digest(self, value: object) -> str | None:
        """In hexadecimal, or None."""
        self._open.clear()
        try:
            encoded = self._encode(value)
        except Exception:  # RuntimeError: a thread of the guest changed it meanwhile
            return None
        return blake2b(encoded, digest_size=_SIZE).hexdigest()

    def _encode(self, root: object) -> bytes:
        # Not by recursion: values nest as deep as they like.
        stack: list[_Open] = []
        done = self._begin(root, stack)
        while stack:
            top = stack[-1]
            for part in top.rest:
                encoded = self._begin(part, stack)
                if encoded is None:
                    break
                top.add(encoded)
            else:
                stack.pop()
                done = self._end(top)
                if stack:
                    stack[-1].lowest = min(stack[-1].lowest, top.lowest)
                    stack[-1].add(done)
        assert done is not None
        return done

    def _begin(self, value: Any, stack: list[_Open]) -> bytes | None:
        """The value's encoding, or None if its parts come first."""
        self._nodes -= 1
        if self._nodes < 0:
            self._nodes = 0
            raise _Unknown
        leaf = _LEAVES.get(id(type(value)))
        if leaf is not None:
            return leaf(self, value)
        key = id(value)
        known = self._known.get(key)
        if known is not None:
            return known[1]
        if again := self._open.get(key):
            stack[-1].lowest = min(stack[-1].lowest, again.depth)
            return b"^%d" % (len(stack) - again.depth)
        if len(stack) >= MAX_DEPTH:
            raise _Unknown
        begun = self._parts(value)
        begun.depth = begun.lowest = len(stack)
        self._open[key] = begun
        stack.append(begun)
        return None

    def _end(self, ended: _Open) -> bytes:
        del self._open[id(ended.value)]
        done = ended.end()
        # What leads back to something around it would be another digest elsewhere.
        if ended.lowest >= ended.depth and len(self._known) < _MAX_REMEMBERED:
            self._known[id(ended.value)] = ended.value, done
        return done

    def take(self, size: int) -> None:
        """Leaves what is too large out before any of it is copied."""
        if size > self._bytes:
            raise _Unknown
        self._bytes -= size

    def allow(self, count: int) -> None:
        if count > self._nodes:
            raise _Unknown

    def _parts(self, value: Any) -> _Open:
        parts = _PARTS.get(id(type(value)))
        if parts is not None:
            return parts(self, value)
        if attributes.is_class(value):
            return _class_parts(value)
        if (name := attributes.module_name(value)) is not None:
            return _Open(value, b"module", [name], True)
        return _instance_parts(value)


# --- values without parts -------------------------------------------------------------------------


def _text(digester: Digester, value: str) -> bytes:
    digester.take(len(value))
    encoded = value.encode("utf-8", "surrogatepass")
    return b"s%d:" % len(encoded) + encoded


def _bytes(digester: Digester, value: bytes) -> bytes:
    digester.take(len(value))
    return b"b%d:" % len(value) + value


def _bytearray(digester: Digester, value: bytearray) -> bytes:
    digester.take(len(value))
    return b"B%d:" % len(value) + bytes(value)


def _int(digester: Digester, value: int) -> bytes:
    size = value.bit_length() // 8 + 1
    digester.take(size)
    return b"i%d:" % size + value.to_bytes(size, "little", signed=True)


def _float(_: Digester, value: float) -> bytes:
    return b"f" + struct.pack("<d", value)


def _complex(_: Digester, value: complex) -> bytes:
    return b"c" + struct.pack("<dd", value.real, value.imag)


def _decimal(digester: Digester, value: decimal.Decimal) -> bytes:
    return b"D" + _text(digester, str(value))


def _time(digester: Digester, value: Any) -> bytes:
    if value.tzinfo is not None and type(value.tzinfo) is not datetime.timezone:
        raise _Unknown
    return b"t" + _text(digester, f"{type(value).__name__} {value!r}")


def _by_repr(digester: Digester, value: Any) -> bytes:
    """Of types that are no other's base, and whose repr has all of them."""
    return b"r" + _text(digester, f"{type(value).__name__} {value!r}")


def _builtin(digester: Digester, value: Any) -> bytes:
    owner = value.__self__
    if owner is not None and not attributes.is_module(owner) and not attributes.is_class(owner):
        raise _Unknown
    of = type_name(owner) if attributes.is_class(owner) else ""
    return b"n" + _text(digester, f"{of}.{attributes.function_name(value)}")


_LEAVES: dict[int, Callable[[Digester, Any], bytes]] = {
    id(str): _text,
    id(bytes): _bytes,
    id(bytearray): _bytearray,
    id(int): _int,
    id(float): _float,
    id(complex): _complex,
    id(decimal.Decimal): _decimal,
    id(datetime.datetime): _time,
    id(datetime.time): _time,
    id(BuiltinFunctionType): _builtin,
    **{
        id(each): _by_repr
        for each in (
            type(None), bool, type(...), type(NotImplemented), range, datetime.date,
            datetime.timedelta, datetime.timezone,
        )
    },
}  # fmt: skip


# --- values with parts ----------------------------------------------------------------------------


def _sequence(tag: bytes, length: Callable[[Any], int]) -> Callable[[Digester, Any], _Open]:
    def parts(digester: Digester, value: Any) -> _Open:
        digester.allow(length(value))
        return _Open(value, tag + b"%d:" % length(value), value, True)

    return parts


def _set_parts(digester: Digester, value: Any) -> _Open:
    digester.allow(len(value))
    return _Open(value, b"set" if type(value) is set else b"frozenset", value, False)


def _mapping(tag: bytes) -> Callable[[Digester, Any], _Open]:
    def parts(digester: Digester, value: Any) -> _Open:
        digester.allow(2 * dict.__len__(value))
        return _Open(value, tag, _flat(value), True)

    return parts


def _flat(value: dict[Any, Any]) -> Iterator[Any]:
    if type(value) is defaultdict:
        yield value.default_factory
    entries = OrderedDict.items(value) if type(value) is OrderedDict else dict.items(value)
    for key, found in entries:
        yield key
        yield found


def _code_parts(_: Digester, code: CodeType) -> _Open:
    """What it does, not where it stands."""
    return _Open(code, b"code", [
        code.co_code, code.co_consts, code.co_names, code.co_varnames, code.co_freevars,
        code.co_cellvars, code.co_flags, code.co_argcount, code.co_posonlyargcount,
        code.co_kwonlyargcount, code.co_exceptiontable, code.co_name,
    ], True)  # fmt: skip


def _cell_parts(_: Digester, cell: CellType) -> _Open:
    try:
        return _Open(cell, b"cell", [cell.cell_contents], True)
    except ValueError:  # empty
        return _Open(cell, b"empty cell", [], True)


def _function_parts(_: Digester, function: FunctionType) -> _Open:
    more = _function_dict_of(function)
    parts = [
        function.__code__,
        function.__defaults__,
        function.__kwdefaults__,
        function.__closure__,
    ]
    return _Open(function, b"function", [*parts, more], True)


def _class_parts(cls: type) -> _Open:
    if not attributes.is_made_by_guest(cls):
        return _Open(cls, b"type", [type_name(cls)], True)
    return _Open(cls, b"class", _parts_of_class(cls), True)


def _parts_of_class(cls: type) -> Iterator[Any]:
    yield type_name(cls)
    yield from attributes.bases_of(cls)[1:]
    for name, value in attributes.items_of(attributes.class_dict_of(cls)):
        if name in _MADE:
            continue
        yield name
        if attributes.kind_of(value) == "property" and type(value) is not property:
            continue  # a slot
        wrapped = attributes.wrapped_by(value)
        if wrapped is None:
            yield value
        else:
            yield type(value).__name__
            yield from wrapped


def _instance_parts(value: Any) -> _Open:
    """Of an object of the program's class: the class, and what it has in its dict and slots."""
    cls = type(value)
    for base in attributes.bases_of(cls):
        if not attributes.is_made_by_guest(base) and type_name(base) not in _PLAIN_BASES:
            raise _Unknown
    return _Open(value, b"object", _parts_of_instance(value), True)


def _parts_of_instance(value: Any) -> Iterator[Any]:
    yield type(value)
    own = attributes.instance_dict_of(value)
    for name, found in (*attributes.items_of(own or {}), *attributes.slots_of(value)):
        yield name
        yield found


_PARTS: dict[int, Callable[[Digester, Any], _Open]] = {
    id(list): _sequence(b"list", list.__len__),
    id(tuple): _sequence(b"tuple", tuple.__len__),
    id(deque): _sequence(b"deque", len),
    id(set): _set_parts,
    id(frozenset): _set_parts,
    id(dict): _mapping(b"dict"),
    id(OrderedDict): _mapping(b"OrderedDict"),
    id(defaultdict): _mapping(b"defaultdict"),
    id(Counter): _mapping(b"Counter"),
    id(CodeType): _code_parts,
    id(CellType): _cell_parts,
    id(FunctionType): _function_parts,
}


# --- arrays and tables ----------------------------------------------------------------------------


def know_packages() -> None:
    """Zygote, with the packages loaded."""
    if numpy := sys.modules.get("numpy"):
        _know_numpy(numpy)
        if pandas := sys.modules.get("pandas"):
            _know_pandas(pandas, numpy)


def _know_numpy(numpy: Any) -> None:
    array = numpy.ndarray
    dtype_of, shape_of, size_of = (
        array.dtype.__get__,
        array.shape.__get__,
        array.nbytes.__get__,
    )
    kind_of, text_of = numpy.dtype.kind.__get__, numpy.dtype.str.__get__
    to_bytes, part_of, to_list = array.tobytes, array.__getitem__, array.tolist

    def feed(found: _Open, value: Any) -> None:
        """Its bytes, in pieces: a copy of all could be too much for a session near its limit."""
        count = shape_of(value)[:1]
        if size_of(value) <= _CHUNK or not count:
            found.hash.update(to_bytes(value))
        elif count[0] == 1:
            feed(found, part_of(value, 0))
        else:
            feed(found, part_of(value, slice(None, count[0] // 2)))
            feed(found, part_of(value, slice(count[0] // 2, None)))

    def parts(digester: Digester, value: Any) -> _Open:
        dtype, shape = dtype_of(value), shape_of(value)
        if kind_of(dtype) == "O":
            digester.allow(size_of(value) // 8)
            return _Open(value, b"objects", [shape, to_list(value)], True)
        if kind_of(dtype) not in "biufcSUmM":
            raise _Unknown
        digester.take(size_of(value))
        found = _Open(value, b"array", [text_of(dtype), shape], True)
        feed(found, value)
        return found

    def scalar(digester: Digester, value: Any) -> bytes:
        raw = numpy.generic.tobytes(value)
        return b"S" + _text(digester, text_of(type(value).dtype.__get__(value))) + raw

    _PARTS[id(array)] = parts
    names = (
        "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
        "complex64 complex128 str_ bytes_ datetime64 timedelta64"
    )
    for name in names.split():
        _LEAVES[id(getattr(numpy, name))] = scalar


def _know_pandas(pandas: Any, numpy: Any) -> None:
    frame, series, index = pandas.DataFrame, pandas.Series, pandas.Index
    own_types = {id(cls) for cls in _below(pandas.api.extensions.ExtensionDtype)}
    own_types |= {id(cls) for cls in _below(numpy.dtype)}
    is_na = {id(type(pandas.NaT)), id(type(pandas.NA))}

    def check(dtype: Any) -> None:
        if id(type(dtype)) not in own_types:  # an array of the program's own kind
            raise _Unknown

    def of_index(digester: Digester, value: Any) -> _Open:
        if type(value) is pandas.RangeIndex:
            return _Open(value, b"range", [value.start, value.stop, value.step, value.name], True)
        dtype = None
        if type(value) is not pandas.MultiIndex:
            dtype = index.dtype.__get__(value)
            check(dtype)
        digester.allow(len(value))
        parts = [str(dtype), list(value.names), index.to_numpy(value)]
        return _Open(value, b"index", parts, True)

    def of_series(digester: Digester, value: Any) -> _Open:
        dtype = series.dtype.fget(value)
        check(dtype)
        digester.allow(len(value) if dtype.kind == "O" else 0)
        parts = [str(dtype), series.name.fget(value), series.index.__get__(value, series)]
        return _Open(value, b"series", [*parts, series.to_numpy(value)], True)

    def of_frame(digester: Digester, value: Any) -> _Open:
        rows, columns = frame.shape.fget(value)
        digester.allow(4 * columns)
        if 8 * rows * columns > digester._bytes:
            raise _Unknown
        return _Open(value, b"frame", of_columns(value, columns), True)

    def of_columns(value: Any, columns: int) -> Iterator[Any]:
        yield frame.index.__get__(value, frame)
        yield frame.columns.__get__(value, frame)
        at = frame.iloc.fget(value)
        for number in range(columns):
            yield at[:, number]

    _PARTS[id(frame)], _PARTS[id(series)] = of_frame, of_series
    for cls in (index, *_below(index)):
        _PARTS[id(cls)] = of_index
    for cls in (pandas.Timestamp, pandas.Timedelta):
        _LEAVES[id(cls)] = _by_repr
    for cls in is_na:
        _LEAVES[cls] = _by_repr


def _below(cls: Any) -> Iterator[Any]:
    for each in type.__subclasses__(cls):
        yield each
        yield from _below(each)
