"""A short look at generated programs, the same each time; `./dev fuzz language` looks further."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from tests.policy import harness
from tests.policy.fuzz import campaign, grammar, properties
from tests.policy.fuzz.mutations import known_programs

# What no source is parsed to, or what is not Python any more.
_NEVER_PARSED = {
    "AugLoad", "AugStore", "Bytes", "Ellipsis", "Expression", "ExtSlice", "FunctionType", "Index",
    "Interactive", "NameConstant", "Num", "Param", "Str", "Suite", "TypeIgnore", "_ast_Ellipsis",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "programs", "accepted"),
    [("grammar", 250, 100), ("mutations", 800, 80), ("programs", 60, 60)],
)
def test_generated_programs(name: str, programs: int, accepted: int) -> None:
    seen = campaign.run(name, programs=programs, seed=1)
    assert seen["programs"] >= programs
    assert seen["accepted"] >= accepted, seen  # a generator of refusals would prove little


# Where in a program each kind of template stands.
_AROUND = {
    "atom": "{}", "expr": "{}", "clauses": "[a {}]", "arguments": "f({})",
    "parameters": "lambda {}: a",
    "typed": "def f({}): pass", "target": "{} = a", "place": "del {}", "operator": "a {}= a",
    "dotted": "match a:\n case {}(): pass", "pattern": "match a:\n case {}: pass",
    "imported": "from math import {}", "simple": "{}", "compound": "{}",
    "in a loop": "while a:\n {}", "in a function": "def f():\n {}",
    "in a coroutine": "async def f():\n    {}",
}  # fmt: skip


def test_the_grammar_has_every_kind_of_node() -> None:
    found: set[str] = set()
    for kind, templates in grammar.TEMPLATES.items():
        for template in templates:
            writer = grammar.Writer(lambda options: options[0], ("a",), 10)
            indent = "    " if kind == "in a coroutine" else ""
            filled = writer.fill(template.replace("\n", "\n" + indent), (), indent)
            tree = ast.parse(_AROUND[kind].format(filled))
            found.update(type(node).__name__ for node in ast.walk(tree))
    expected = {
        name
        for name, kind in vars(ast).items()
        if isinstance(kind, type) and issubclass(kind, ast.AST) and kind.__module__ == "ast"
        if not kind.__subclasses__() or name == "Constant"
    }
    assert expected - found - _NEVER_PARSED - _operators() == set()


def _operators() -> set[str]:
    families = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
    return {kind.__name__ for family in families for kind in family.__subclasses__()}


def test_programs_of_the_tests_are_found() -> None:
    assert len(known_programs()) > 250


def test_a_crash_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from belljar_policy import transformer

    def crash(self: Any, node: ast.AST) -> None:
        raise IndexError("mutant")

    monkeypatch.setitem(transformer._HANDLERS, ast.ClassDef, crash)
    with pytest.raises(IndexError, match="mutant"):
        campaign.run("grammar", programs=400, seed=1)


def test_a_hole_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    from belljar_policy import transformer

    monkeypatch.setitem(transformer._HANDLERS, ast.Attribute, lambda self, node: None)
    with pytest.raises(AssertionError, match="(LOAD|STORE|DELETE)_[A-Z]+ of .* no hook") as caught:
        campaign.run("grammar", programs=100, seed=1)
    program = str(caught.value).partition("in:\n")[2]
    assert len(program) < 100, program


def test_a_finding_without_a_place_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from belljar_policy.transformer import Transformer

    finding = Transformer._finding
    monkeypatch.setattr(
        Transformer,
        "_finding",
        staticmethod(lambda node, *more: finding(ast.Pass(), *more)),
    )
    with pytest.raises(AssertionError, match="BJ303"):
        properties.judged("g.gi_frame")


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    run = harness.run
    monkeypatch.setattr(harness, "run", lambda source: run(source.replace("1", "2")))
    with pytest.raises(AssertionError, match=r"stdout: '2\\n', in plain Python '1\\n'"):
        properties.same_as_plain_python("print(1)")
    with pytest.raises(AssertionError, match="message: 'list index 2', in plain Python 'list ind"):
        properties.same_as_plain_python("raise IndexError('list index 1')")
    with pytest.raises(AssertionError, match="BJ201"):
        properties.same_as_plain_python("import glob")


# --- what it found ------------------------------------------------------------------------------


def test_an_attribute_that_is_only_annotated_is_not_written() -> None:
    harness.assert_same("import math\nmath.pi: float\nmath.pi._x: float\nprint('done')")


@pytest.mark.parametrize("value", ["True", "False", "None"])
def test_a_constant_in_a_pattern(value: str) -> None:
    harness.assert_same(f"match {value}:\n    case {value}: print('it is')")
