"""What a session reports about itself: plain values, most of them chosen by its cells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from belljar._errors import BelljarError
from belljar._escaping import escaped

if TYPE_CHECKING:
    from belljar._host import Comparison


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state that a session can be rolled back to."""

    id: str
    """"c3"; unique among a session and its branches."""
    cell: int
    """The number of the cell after which it was made. 0: before the first."""
    label: str | None
    parent: str | None
    """The id of the checkpoint that its cell started from."""
    made: datetime
    current: bool = field(compare=False)
    """Whether it was the state of the session when this was read."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """What a session uses, and whether it is busy."""

    id: str
    cells: int
    """How many cells have run."""
    busy: bool
    checkpoints: int
    """How many checkpoints are held."""
    opened: datetime
    idle: float
    """Seconds since the last call ended."""
    memory_bytes: int
    """The private memory of the session, its checkpoints included."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion of code: `text` replaces the code from `start` to `end`."""

    text: str
    start: int
    end: int
    """Counted in characters of the code, as `start` is."""
    type: str | None
    """"function", "class", "module", "instance", "property", "keyword", "key" or "column"."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a session."""

    name: str
    type: str
    shape: tuple[int, ...] | None
    """The shape of an array or a table. None: it is neither."""
    repr: str
    """The repr, of bounded length."""
    digest: str | None
    """Values with equal digests are equal. None: the value is too large, or cannot be compared."""


@dataclass(frozen=True, slots=True)
class VariableChange:
    """How a variable differs between two states."""

    kind: Literal["added", "changed", "removed", "unknown"]
    """"unknown": too large, or not comparable."""
    name: str
    type_before: str | None
    type_after: str | None
    repr_before: str | None
    repr_after: str | None

    def __str__(self) -> str:
        before, after = self.repr_before or "?", self.repr_after or "?"
        if self.kind == "added":
            text = f"+ {self.name} = {after}"
        elif self.kind == "removed":
            text = f"- {self.name} = {before}"
        elif self.kind == "changed":
            text = f"~ {self.name}: {before} -> {after}"
        else:
            text = f"? {self.name}: {after}"
        return escaped(text)


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Paths in the workspace, directories included."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two states of sessions. False if nothing does; `str` shows it."""

    variables: tuple[VariableChange, ...]
    """By name."""
    files: FileChanges
    cells_before: int
    cells_after: int

    def __bool__(self) -> bool:
        files = self.files
        return bool(self.variables or files.added or files.changed or files.removed)

    def __str__(self) -> str:
        return "\n".join(self._lines()) or "no difference"

    def _lines(self) -> Iterator[str]:
        yield from map(str, self.variables)
        for sign, paths in (
            ("+", self.files.added),
            ("~", self.files.changed),
            ("-", self.files.removed),
        ):
            for path in paths:
                yield escaped(f"{sign} file {path}".encode("utf-8", "replace").decode())


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def path_text(path: bytes) -> str:
    """Like os.fsdecode: bytes that are not UTF-8 are kept."""
    return path.decode("utf-8", "surrogateescape")


def path_bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def difference(comparison: Comparison) -> Difference:
    variables, added, changed, removed, cells_before, cells_after = comparison

    def change(kind: Any, name: str, *sides: str) -> VariableChange:
        return VariableChange(kind, name, *(side or None for side in sides))

    return Difference(
        tuple(change(*each) for each in variables),
        FileChanges(*(tuple(map(path_text, paths)) for paths in (added, changed, removed))),
        cells_before,
        cells_after,
    )


# --- answers of a session's worker, which may be hostile ------------------------------------------


def completions(text: str) -> tuple[Completion, ...]:
    return tuple(
        Completion(each["text"], each["start"], each["end"], _text_or_none(each, "type"))
        for each in _items(_answer(text), "completions")
        if _has(each, text=str, start=int, end=int)
    )


def inspection(text: str) -> str | None:
    answer = _answer(text)
    shown = answer.get("text")
    return shown if answer.get("found") is True and isinstance(shown, str) else None


def variables(text: str) -> tuple[Variable, ...]:
    answer = _answer(text)
    if answer.get("status") != "ok":
        what = "list a session's variables"
        raise BelljarError(what, f"{what}: it did not answer")
    return tuple(
        Variable(
            each["name"], each["type"], _shape(each), each["repr"], _text_or_none(each, "digest")
        )
        for each in _items(answer, "variables")
        if _has(each, name=str, type=str, repr=str)
    )


def _answer(text: str) -> dict[str, Any]:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _items(answer: dict[str, Any], key: str) -> list[dict[str, Any]]:
    items = answer.get(key)
    return [each for each in items if isinstance(each, dict)] if isinstance(items, list) else []


def _has(item: dict[str, Any], **types: type) -> bool:
    return all(type(item.get(key)) is kind for key, kind in types.items())


def _text_or_none(item: dict[str, Any], key: str) -> str | None:
    text = item.get(key)
    return text if isinstance(text, str) else None


def _shape(item: dict[str, Any]) -> tuple[int, ...] | None:
    shape = item.get("shape")
    if not isinstance(shape, list) or not all(type(each) is int for each in shape):
        return None
    return tuple(shape)
