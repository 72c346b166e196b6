"""Programs of people and attackers with a few tokens changed."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.policy.fuzz.grammar import HOSTILE_NAMES, ORDINARY_NAMES

TESTS = Path(__file__).resolve().parents[2]
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_NAMES = (*ORDINARY_NAMES, *HOSTILE_NAMES)
_SIGNS = (
    "@", ".", "(", ")", "[", "]", "{", "}", ":", "=", ":=", "+=", ",", "*", "**", "->", "'", "f'",
    "\'\'\'", "\\", "\n", "\n    ", ";", "#", "0", "lambda ", " yield ", "await ", "async ",
    "import ", "from ", "global ", "nonlocal ", "class ", "def ", " for ", " in ", "with ", " as ",
    "del ", "match ", "case ", "\0", "\ud800", "\t", "\f", "# coding: utf-7\n",
)  # fmt: skip


def known_programs() -> list[str]:
    """The examples, and every text in the tests of the language that is a program."""
    found = [path.read_text() for path in sorted(TESTS.parent.glob("examples/*.py"))]
    for folder in ("policy", "language", "escapes", "library", "programs"):
        for path in sorted(TESTS.glob(f"{folder}/**/*.py")):
            found += filter(_is_program, _texts(path))
    return sorted(set(found), key=lambda source: (len(source), source))


def _texts(path: Path) -> list[str]:
    if not path.name.startswith("test_"):
        return [path.read_text()] if path.parent.name == "programs" else []
    return [
        textwrap.dedent(node.value)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def _is_program(text: str) -> bool:
    """Python, and more than a word or an expression."""
    try:
        return not all(isinstance(node, ast.Expr) for node in ast.parse(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def mutated_program(programs: list[str]) -> st.SearchStrategy[str]:
    tokens = [_TOKEN.findall(source) for source in programs]

    @st.composite
    def mutated(draw: Callable[[Any], Any]) -> str:
        parts = list(draw(st.sampled_from(tokens)))
        for _ in range(draw(st.integers(1, 3))):
            at = draw(st.integers(0, max(0, len(parts) - 1)))
            # Mostly what is likely to leave a program: another name in a name's place.
            match draw(
                st.sampled_from(("name", "name", "name", "sign", "drop", "repeat", "borrow"))
            ):
                case "name":
                    words = [i for i, part in enumerate(parts) if part.isidentifier()]
                    if words:
                        parts[draw(st.sampled_from(words))] = draw(st.sampled_from(_NAMES))
                case "sign":
                    parts.insert(at, draw(st.sampled_from(_SIGNS)))
                case "drop":
                    del parts[at : at + 1]
                case "repeat":
                    parts[at:at] = parts[at : at + draw(st.integers(1, 12))]
                case "borrow":
                    other = draw(st.sampled_from(tokens))
                    start = draw(st.integers(0, len(other) - 1))
                    parts[at:at] = other[start : start + draw(st.integers(1, 20))]
        return "".join(parts)

    return mutated()
