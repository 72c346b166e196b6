"""Copies of containers that modules export. Programs do not get the originals, because the library
uses them as its own tables (html.unescape uses html.entities.html5).
"""

from __future__ import annotations

import collections
from typing import Any

_MAPPINGS = (dict, collections.OrderedDict)
_SEQUENCES = (list, collections.deque)
_LEAVES = (set, bytearray)  # their items are immutable


def unshared(value: Any, copies: dict[int, Any]) -> Any:
    """`value`, or a deep copy if it is a container.

    Each object has one copy: `copies` is keyed by the ids of the originals, which stay alive.
    """
    if id(value) in copies:
        return copies[id(value)]
    kind = type(value)  # exact types only: subclasses may have more state
    made: Any
    if kind in _MAPPINGS:
        made = copies[id(value)] = kind()
        made.update((key, unshared(item, copies)) for key, item in value.items())
        return made
    if kind in _SEQUENCES:
        made = copies[id(value)] = kind()
        made.extend(unshared(item, copies) for item in value)
        return made
    if kind in _LEAVES:
        made = copies[id(value)] = kind(value)
        return made
    if kind is tuple:
        items = tuple(unshared(item, copies) for item in value)
        is_same = all(item is given for item, given in zip(items, value, strict=True))
        return value if is_same else items
    return value
