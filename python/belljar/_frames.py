"""The messages between a Belljar on Linux (`_remote`) and a program on another system (`_host`).

A message is its length in four bytes, big-endian, and JSON: a list that begins with its kind.
Values are plain data, results of this package, and handles of objects at the other end.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, fields, is_dataclass
from types import ModuleType
from typing import IO, Any

PROTOCOL = 1
MAX_MESSAGE = 1 << 30
"""Bytes. Files and outputs of a run are far below it."""

_results: dict[str, type[Any]] = {}


class BrokenMessage(Exception):  # noqa: N818 - never raised to callers
    """Malformed input."""


@dataclass(frozen=True, slots=True)
class Handle:
    """An object at the end that runs programs: an engine or a session."""

    number: int


def register_results(module: ModuleType) -> None:
    """Before any result is sent: `_result`, which has their classes."""
    for name, kind in vars(module).items():
        if isinstance(kind, type) and is_dataclass(kind):
            _results[name] = kind


def write(stream: IO[bytes], message: list[Any]) -> None:
    """Sends one message; the caller holds the lock of the stream."""
    text = json.dumps(_encode(message), separators=(",", ":")).encode()
    stream.write(len(text).to_bytes(4, "big") + text)
    stream.flush()


def read(stream: IO[bytes]) -> list[Any] | None:
    """The next message, or None at the end.

    Raises:
        BrokenMessage: It is malformed, cut off or too large.
    """
    head = stream.read(4)
    if not head:
        return None
    length = int.from_bytes(head, "big")
    if len(head) < 4 or length > MAX_MESSAGE:
        raise BrokenMessage("no message, but " + repr(head))
    text = stream.read(length)
    if len(text) < length:
        raise BrokenMessage("a message was cut off")
    try:
        message = _decode(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BrokenMessage(f"a malformed message: {error}") from error
    if type(message) is not list or not message:
        raise BrokenMessage("a message without a kind")
    return message


def _encode(value: Any) -> Any:
    kind = type(value)
    if value is None or kind in (bool, str, float):
        return value
    if kind is int:
        # Python refuses to read long decimals.
        return value if abs(value) < 1 << 63 else {"int": hex(value)}
    if kind is list:
        return [_encode(each) for each in value]
    if kind in (bytes, bytearray):
        return {"bytes": base64.b64encode(value).decode()}
    if kind in (tuple, set, frozenset):
        return {kind.__name__: [_encode(each) for each in value]}
    if kind is dict:
        return {"dict": [[_encode(key), _encode(each)] for key, each in value.items()]}
    if kind is Handle:
        return {"handle": value.number}
    if _results.get(kind.__name__) is kind:
        return {"result": [kind.__name__, *(_encode(getattr(value, f.name)) for f in fields(kind))]}
    raise TypeError(f"{kind.__name__} cannot be sent")


_COLLECTIONS = {"tuple": tuple, "set": set, "frozenset": frozenset}


def _decode(value: Any) -> Any:
    if type(value) is list:
        return [_decode(each) for each in value]
    if type(value) is not dict:
        return value
    ((kind, content),) = value.items()
    if kind == "bytes":
        return base64.b64decode(content, validate=True)
    if kind == "int":
        return int(content, 16)
    if kind == "dict":
        return {_decode(key): _decode(each) for key, each in content}
    if kind == "handle":
        return Handle(int(content))
    if kind == "result":
        name, *values = content
        return _results[name](*map(_decode, values))
    return _COLLECTIONS[kind](_decode(each) for each in content)
