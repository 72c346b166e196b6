"""Containers that modules export: a program gets copies, since those of the library are also the
library's own tables (html.entities.html5 decides what html.unescape does).
"""

from __future__ import annotations

import collections
from typing import Any

_MAPPINGS = (dict, collections.OrderedDict)
_SEQUENCES = (list, collections.deque)
_LEAVES = (set, bytearray)  # what is in them cannot change


def unshared(value: Any, copies: dict[int, Any]) -> Any:
    """`value`, or a copy of it if it is a container, with what is in it copied likewise.

    One object has one copy: `copies` is by the ids of the originals, which live as long.
    """
    if id(value) in copies:
        return copies[id(value)]
    kind = type(value)  # exactly: what a subclass keeps besides is not known
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
