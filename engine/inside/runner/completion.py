"""Completions at a cursor, and what is known of the name there: for an editor beside a session.

No code of the program's runs: names are resolved by attributes.py, step by step from a variable.
What only a call or a property could tell is not told.
"""

import builtins
import re
from collections.abc import Iterator
from keyword import kwlist
from typing import Any, NamedTuple

from . import attributes
from .attributes import NOTHING, Attribute
from .spelling import MAX_NAME, Spelling

MAX_COMPLETIONS = 200
_MAX_LOOKED_AT = 64 * 1024  # characters before the cursor
_MAX_LINE = 2000
_MAX_PARTS = 32  # of a dotted name; open brackets

_OPENING = re.compile(r"#[^\n]*|\"\"\"|'''|\"|'")
_ENDS = {
    '"': re.compile(r'(?:[^"\\\n]|\\[\s\S])*(?P<end>["\n])?'),
    "'": re.compile(r"(?:[^'\\\n]|\\[\s\S])*(?P<end>['\n])?"),
    '"""': re.compile(r'(?:[^"\\]|\\[\s\S]|"(?!""))*(?P<end>""")?'),
    "'''": re.compile(r"(?:[^'\\]|\\[\s\S]|'(?!''))*(?P<end>''')?"),
}
_NAME = re.compile(r"[\w.]*")


class Place(NamedTuple):
    """Where the cursor is: in code, or in a string that begins at `opening`, or in a comment."""

    kind: str
    opening: int = 0


def place_of(text: str) -> Place:
    """Of the end of `text`."""
    position = 0
    while found := _OPENING.search(text, position):
        if found[0][0] == "#":
            if found.end() == len(text):
                return Place("comment")
            position = found.end()
            continue
        ended = _ENDS[found[0]].match(text, found.end())
        if ended is None or ended["end"] is None:
            return Place("string", found.start())
        position = ended.end()
    return Place("code")


class Completer:
    def __init__(self, namespace: dict[str, Any], spelling: Spelling) -> None:
        self._namespace = namespace
        self._spelling = spelling

    # --- completions ----------------------------------------------------------------------------

    def complete(self, text: str, cursor: int) -> tuple[list[dict[str, Any]], bool]:
        """The completions, sorted, and whether there would be more."""
        before = text[max(cursor - _MAX_LOOKED_AT, 0) : cursor]
        place = place_of(before)
        if place.kind == "comment":
            return [], False
        if place.kind == "string":
            return self._keys(before, place.opening, cursor)
        name = _name_before(before)
        above, dot, prefix = name.rpartition(".")
        start = cursor - len(prefix)
        found = self._candidates(before, above, bool(dot), prefix)
        if prefix and not (prefix.isidentifier()):
            return [], False
        return _matches(found, prefix, start, cursor)

    def _candidates(
        self, before: str, above: str, is_attribute: bool, prefix: str
    ) -> Iterator[tuple[str, str]]:
        words = _statement(before).split()
        line = _statement(before)
        if words and words[0] in ("import", "from") and line[-1:] != ")":
            in_import = self._import(line, words, above)
            if in_import is not None:
                return in_import
        if is_attribute:
            return self._attributes(above, before, prefix)
        return self._names()

    def _import(self, line: str, words: list[str], above: str) -> Iterator[tuple[str, str]] | None:
        ends_word = line[-1:].isspace()
        if words[0] == "import":
            return self._modules(above) if len(words) > 1 or ends_word else None
        if "import" in words[2:] and not (words[-1] == "import" and not ends_word):
            return ((name, "") for name in self._spelling.exports(words[1]))
        if len(words) == 1 and ends_word or len(words) == 2 and not ends_word:
            return self._modules(above)
        return iter([("import", "keyword")]) if len(words) > 1 else None

    def _modules(self, above: str) -> Iterator[tuple[str, str]]:
        for name in self._spelling.modules():
            if type(name) is not str:
                continue
            if above:
                if name.startswith(above + "."):
                    yield name[len(above) + 1 :].partition(".")[0], "module"
            else:
                yield name.partition(".")[0], "module"

    def _names(self) -> Iterator[tuple[str, str]]:
        spelling = self._spelling
        for name, value in attributes.items_of(self._namespace):
            if spelling.may_name(name):
                kind = "module" if spelling.is_proxy(value) else attributes.kind_of(value)
                yield name, kind
        yield from ((word, "keyword") for word in kwlist)
        given = self._builtins()
        for name, value in attributes.items_of(given):
            if spelling.may_use(name, bool(self._namespace)):
                yield name, attributes.kind_of(value)

    def _builtins(self) -> Any:
        found = attributes.find(self._namespace, "__builtins__")
        if attributes.is_module(found):
            return attributes.instance_dict_of(found)
        return found if type(found) is dict else vars(builtins)

    def _attributes(self, above: str, before: str, prefix: str) -> Iterator[tuple[str, str]]:
        value = self.resolve(above).value if above else _literal_before(before, prefix)
        if value is NOTHING:
            return
        yield from self._spelling.names(value)
        for column in _columns_of(value):
            if self._spelling.may_read(value, column):
                yield column, "column"

    def _keys(self, before: str, opening: int, cursor: int) -> tuple[list[dict[str, Any]], bool]:
        """After `d["`: the keys of a dict, the columns of a table."""
        head = before[:opening].rstrip()
        quote = before[opening]
        if head[-1:] != "[" or before[opening : opening + 3] == quote * 3:
            return [], False
        value = self.resolve(_name_before(head[:-1].rstrip())).value
        if value is NOTHING:
            return [], False
        keys = _columns_of(value)
        if issubclass(type(value), dict):
            keys = (key for key, _ in attributes.items_of(value))
        plain = ((key, "key") for key in keys if key.isprintable() and not {quote, "\\"} & {*key})
        prefix = before[opening + 1 :]
        return _matches(plain, prefix, cursor - len(prefix), cursor, hides_private=False)

    # --- resolving ------------------------------------------------------------------------------

    def resolve(self, dotted: str) -> Attribute:
        """What a dotted name stands for, as far as that can be told."""
        parts = dotted.split(".")
        if len(parts) > _MAX_PARTS or not all(part.isidentifier() for part in parts):
            return attributes.MISSING
        value = NOTHING
        if self._spelling.may_name(parts[0]):
            value = attributes.find(self._namespace, parts[0])
            if value is NOTHING and self._spelling.may_use(parts[0], bool(self._namespace)):
                value = attributes.find(self._builtins(), parts[0])
        if value is NOTHING:
            return attributes.MISSING
        kind = "module" if self._spelling.is_proxy(value) else attributes.kind_of(value)
        found = Attribute(value, kind)
        for part in parts[1:]:
            if found.value is NOTHING:
                return attributes.MISSING
            found = self._spelling.attribute(found.value, part)
        return found

    def name_at(self, text: str, cursor: int) -> tuple[str, Attribute]:
        """The name at the cursor, or of the function whose call it is in; and what it is."""
        before = text[max(cursor - _MAX_LOOKED_AT, 0) : cursor]
        place = place_of(before)
        if place.kind == "code":
            after = text[cursor : cursor + MAX_NAME]
            rest = re.match(r"\w*", after)
            name = _name_before(before) + (rest[0] if rest else "")
            found = self.resolve(name)
            if found is not attributes.MISSING:
                return name, found
        elif place.kind == "string":
            before = before[: place.opening]
        for name in _calls_around(before):
            found = self.resolve(name)
            if found is not attributes.MISSING:
                return name, found
        return "", attributes.MISSING


def _name_before(text: str) -> str:
    """The dotted name that `text` ends with, or ""; of `f().x` it is ".x"."""
    tail = text[-_MAX_LINE:]
    found = _NAME.match(tail[::-1])
    return tail[len(tail) - found.end() :] if found else ""


def _statement(before: str) -> str:
    """The last line, from where its last statement begins."""
    line = before[-_MAX_LINE:].rpartition("\n")[2]
    return line.rpartition(";")[2].lstrip()


def _literal_before(before: str, prefix: str) -> object:
    """A value like the literal that stands before `.prefix`: of strings, lists and dicts."""
    last = before[: len(before) - len(prefix) - 1][-1:]
    return "" if last in ("'", '"') else NOTHING


def _calls_around(before: str) -> Iterator[str]:
    """The names before the parentheses that are open at the end, from the innermost."""
    depth = count = 0
    code = before[-8 * _MAX_LINE :]
    for index in range(len(code) - 1, -1, -1):
        character = code[index]
        if character in ")]}":
            depth += 1
        elif character in "([{":
            depth -= 1
            if depth < 0:
                depth = 0
                count += 1
                if count > _MAX_PARTS:
                    return
                head = code[max(index - _MAX_LINE, 0) : index].rstrip(" ")
                if character == "(" and (name := _name_before(head)):
                    yield name


def _columns_of(value: object) -> Iterator[str]:
    for name in attributes.columns_of(value):
        if type(name) is str and len(name) <= MAX_NAME:
            yield name


def _matches(
    found: Iterator[tuple[str, str]],
    prefix: str,
    start: int,
    end: int,
    *,
    hides_private: bool = True,
) -> tuple[list[dict[str, Any]], bool]:
    kinds: dict[str, str] = {}
    for name, kind in found:
        if len(name) > MAX_NAME or not name.startswith(prefix):
            continue
        if hides_private and name[:1] == "_" and prefix[:1] != "_":
            continue
        kinds.setdefault(name, kind)
    names = sorted(kinds)
    matches = []
    for name in names[:MAX_COMPLETIONS]:
        match = {"text": name, "start": start, "end": end}
        if kinds[name]:
            match["type"] = kinds[name]
        matches.append(match)
    return matches, len(names) > MAX_COMPLETIONS
