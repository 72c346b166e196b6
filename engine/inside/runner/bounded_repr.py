"""repr() that stops: what repr() gives, up to a bound, without building the rest of it.

Only for exact builtin containers, strings and ints, where most huge values are. Any other object
is asked for its own repr, which may raise, lie or be long.
"""

from collections.abc import Callable, Iterable
from typing import Any

from .tracebacks import exact_text, type_name

# Past this the brackets are the only news; also keeps far from the recursion limit.
_MAX_DEPTH = 150


class _Full(Exception):
    pass


def bounded_repr(value: object, max_characters: int) -> tuple[str, bool]:
    """The repr, and whether it was cut; then it ends in an ellipsis."""
    return written(Writer(max_characters), value, max_characters)


def written(writer: "Writer", value: object, max_characters: int) -> tuple[str, bool]:
    """The same, as `writer` has it."""
    try:
        writer.write(value)
    except _Full:
        return _cut(writer, max_characters), True
    except RuntimeError:  # a __repr__ of the guest changed the container around it
        return _cut(writer, max_characters), True
    return "".join(writer.chunks), False


def _cut(writer: "Writer", max_characters: int) -> str:
    return "".join(writer.chunks)[: max_characters - 1] + "…"


class Writer:
    __slots__ = ("chunks", "left", "open_ids")

    def __init__(self, max_characters: int) -> None:
        self.chunks: list[str] = []
        self.left = max_characters
        self.open_ids: set[int] = set()  # containers that are being written: cycles

    def write(self, value: object) -> None:
        write = _WRITERS.get(id(type(value)))
        if write is None:
            self._other(value)
        else:
            write(self, value)

    def _emit(self, text: str) -> None:
        if len(text) > self.left:
            self.chunks.append(text[: self.left])
            raise _Full
        self.left -= len(text)
        self.chunks.append(text)

    def _text(self, value: str | bytes) -> None:
        # No character's repr is shorter than the character.
        self._emit(repr(value if len(value) <= self.left else value[: self.left]))

    def _int(self, value: int) -> None:
        excess = value.bit_length() - 4 * self.left
        if excess > 0:
            # Too long in any base; decimal would take quadratic time, or be refused.
            sign, value = ("-", -value) if value < 0 else ("", value)
            self._emit(f"{sign}{value >> (excess + 3) // 4 * 4:#x}")
            raise _Full
        try:
            self._emit(repr(value))
        except ValueError:  # past CPython's limit of digits
            self._emit(hex(value))

    def _other(self, value: object) -> None:
        try:
            text = exact_text(repr(value))
        except BaseException as error:
            text = f"<unrepresentable {type_name(type(value))} object: {type_name(type(error))}>"
        self._emit(text)

    def _list(self, value: list) -> None:
        self._container(value, "[", value, "]")

    def _tuple(self, value: tuple) -> None:
        self._container(value, "(", value, ",)" if len(value) == 1 else ")")

    def _set(self, value: set) -> None:
        if value:
            self._container(value, "{", value, "}")
        else:
            self._emit("set()")

    def _frozenset(self, value: frozenset) -> None:
        if value:
            self._container(value, "frozenset({", value, "})")
        else:
            self._emit("frozenset()")

    def _dict(self, value: dict) -> None:
        self._container(value, "{", value.items(), "}", is_dict=True)

    def _container(
        self, value: object, opening: str, items: Iterable[Any], closing: str, is_dict: bool = False
    ) -> None:
        if id(value) in self.open_ids or len(self.open_ids) >= _MAX_DEPTH:
            self._emit(opening + "..." + closing[-1])
            return
        self.open_ids.add(id(value))
        self._emit(opening)
        separator = ""
        for item in items:
            self._emit(separator)
            if is_dict:
                self.write(item[0])
                self._emit(": ")
                item = item[1]  # noqa: PLW2901 (the pair is done with)
            self.write(item)
            separator = ", "
        self._emit(closing)
        self.open_ids.discard(id(value))


# By identity, as in plain_data.py.
_WRITERS: dict[int, Callable[[Writer, Any], None]] = {
    id(str): Writer._text,
    id(bytes): Writer._text,
    id(int): Writer._int,
    id(list): Writer._list,
    id(tuple): Writer._tuple,
    id(set): Writer._set,
    id(frozenset): Writer._frozenset,
    id(dict): Writer._dict,
}
