"""repr() without the guest's code: of an object of its own class, the attributes that it has.

bounded_repr asks objects for their own repr, as a result wants it. Where a session's variables are
looked at in passing, that would print, take long or change them.
"""

import datetime
import decimal
import sys
from typing import Any

from . import attributes
from .bounded_repr import Writer, written
from .tracebacks import type_name

_MAX_ATTRIBUTES = 20
_MAX_DEPTH = 100

# Their repr is C code that asks no other object.
_OWN_REPR = {
    id(each)
    for each in (
        type(None), bool, float, complex, bytearray, range, type(...), type(NotImplemented),
        decimal.Decimal, datetime.date, datetime.timedelta,
    )
}  # fmt: skip
_kind_of_array: Any = None
_array: Any = None
_frames: dict[int, Any] = {}


def know_packages() -> None:
    """Zygote, with the packages loaded."""
    global _kind_of_array, _array  # noqa: PLW0603
    if numpy := sys.modules.get("numpy"):
        _array = numpy.ndarray
        dtype_of, kind_of = _array.dtype.__get__, numpy.dtype.kind.__get__
        _kind_of_array = lambda value: kind_of(dtype_of(value))  # noqa: E731
        names = (
            "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
            "longdouble complex64 complex128 str_ bytes_ datetime64 timedelta64"
        )
        _OWN_REPR.update(id(getattr(numpy, name)) for name in names.split())
    if pandas := sys.modules.get("pandas"):
        _frames[id(pandas.DataFrame)] = pandas.DataFrame.shape.fget
        _frames[id(pandas.Series)] = pandas.Series.shape.fget
        for each in (pandas.Timestamp, pandas.Timedelta, type(pandas.NaT), type(pandas.NA)):
            _OWN_REPR.add(id(each))


def quiet_repr(value: object, max_characters: int) -> tuple[str, bool]:
    """The text, and whether it was cut. Runs no code of the program's."""
    return written(_QuietWriter(max_characters), value, max_characters)


class _QuietWriter(Writer):
    __slots__ = ()

    def _other(self, value: Any) -> None:
        if attributes.is_class(value):
            self._emit(f"<class {type_name(value)!r}>")
        elif (name := attributes.module_name(value)) is not None:
            self._emit(f"<module {name!r}>")
        elif attributes.is_function(value):
            self._emit(f"<function {attributes.function_name(value)}>")
        elif id(type(value)) in _OWN_REPR:
            self._emit(repr(value))
        elif type(value) is _array and _kind_of_array(value) in "biufcSUmM":
            self._emit(" ".join(repr(value).split()))
        elif type(value) is datetime.datetime and _has_plain_zone(value):
            self._emit(repr(value))
        elif id(type(value)) in _frames:
            shape = " x ".join(map(str, _frames[id(type(value))](value)))
            self._emit(f"<{attributes.class_name(value)} of {shape}>")
        else:
            self._object(value)

    def _object(self, value: Any) -> None:
        if id(value) in self.open_ids:
            self._emit("...")
            return
        self._emit(f"<{attributes.class_name(value)}")
        self.open_ids.add(id(value))
        separator = " "
        for count, (name, found) in enumerate(_attributes_of(value)):
            if count == _MAX_ATTRIBUTES or len(self.open_ids) > _MAX_DEPTH:
                self._emit(separator + "...")
                break
            self._emit(f"{separator}{name}=")
            self.write(found)
            separator = ", "
        self.open_ids.discard(id(value))
        self._emit(">")


def _has_plain_zone(value: datetime.datetime) -> bool:
    return value.tzinfo is None or type(value.tzinfo) is datetime.timezone


def _attributes_of(value: object) -> Any:
    own = attributes.instance_dict_of(value)
    if own is not None:
        yield from ((name, found) for name, found in attributes.items_of(own) if name[:1] != "_")
    yield from attributes.slots_of(value)
