"""Type parameters and type aliases; before Python 3.12 they are no syntax."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

import sys

import pytest

from tests.language.cases import refused, runs
from tests.policy.harness import assert_identical

CONSTRUCTS = ("type-parameter", "type-alias")

NEW = sys.version_info >= (3, 12)
PROGRAMS = {
    "functions and classes": """
        def first[T: int, *Ts, **P](x: T) -> T: return x
        class Box[T](list):
            _kind: T
            def __init__(self, v: T): self._v = v
        print(first(1), first.__type_params__, Box[int](3)._v)
        """,
    "aliases": "type Pair[T] = tuple[T, 'later']\ntype A = undefined\nprint(Pair.__name__, A)",
}

if NEW:
    test_runs = runs(PROGRAMS)
    test_refused = refused([
        ("BJ101", 1, 7, "def f[__builtins__](): pass"),
        ("BJ101", 1, 6, "type __builtins__ = int"),
        ("BJ101", 1, 9, "class A[*__import__]: pass"),
        ("BJ301", 1, 10, "type A = f.__globals__"),
    ])  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_before_they_came(name: str) -> None:
    assert assert_identical(PROGRAMS[name]).error == (None if NEW else "SyntaxError")


def test_type_is_a_name_too() -> None:
    assert assert_identical("type = 5\nprint(type)\ndef f(type): return type\nf(1)").error is None
