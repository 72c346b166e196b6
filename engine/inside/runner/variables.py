"""A session's variables, looked at in passing: no code of the program's runs."""

import sys
from collections import deque
from typing import Any

from . import attributes
from .digests import Digester
from .quiet_repr import quiet_repr

MAX_VARIABLES = 1000
MAX_REPR = 200
_MAX_NAME = 256

_shapes: dict[int, Any] = {}
_LENGTHS = (
    (list, list.__len__),
    (tuple, tuple.__len__),
    (dict, dict.__len__),
    (set, set.__len__),
    (frozenset, frozenset.__len__),
    (str, str.__len__),
    (bytes, bytes.__len__),
    (bytearray, bytearray.__len__),
    (deque, deque.__len__),
)


def know_packages() -> None:
    """Zygote, with the packages loaded."""
    if numpy := sys.modules.get("numpy"):
        _shapes[id(numpy.ndarray)] = numpy.ndarray.shape.__get__
    if pandas := sys.modules.get("pandas"):
        _shapes[id(pandas.DataFrame)] = pandas.DataFrame.shape.fget
        _shapes[id(pandas.Series)] = pandas.Series.shape.fget


def list_variables(
    namespace: dict[str, Any], given: frozenset[str]
) -> tuple[list[dict[str, Any]], bool]:
    """The program's own, in order of definition, and whether there are more."""
    digester = Digester()
    found: list[dict[str, Any]] = []
    for name, value in attributes.items_of(namespace):
        if name in given or name[:1] in {"", "_", "@"}:
            continue
        if len(found) == MAX_VARIABLES:
            return found, True
        found.append(
            {
                "name": name[:_MAX_NAME],
                "type": attributes.class_name(value)[:_MAX_NAME],
                "shape": _shape_of(value),
                "repr": _repr_of(value),
                "digest": digester.digest(value),
            }
        )
    return found, False


def _shape_of(value: Any) -> list[int] | None:
    """Of arrays and tables; the length of other containers."""
    try:
        if shape := _shapes.get(id(type(value))):
            return [int(size) for size in shape(value)]
        for base, length in _LENGTHS:
            if issubclass(type(value), base):
                return [length(value)]
    except Exception:
        pass
    return None


def _repr_of(value: Any) -> str:
    try:
        return quiet_repr(value, MAX_REPR)[0]
    except Exception:
        return f"<{attributes.class_name(value)}>"
