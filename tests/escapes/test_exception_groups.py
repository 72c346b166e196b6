"""Exception groups: split, derive and what they hold."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "except* with a lying split": """
        class Liar(ExceptionGroup):
            def derive(self, excs): return self
        try:
            try: raise Liar('x', [ValueError(), KeyError()])
            except* ValueError as e: loot = e.__traceback__.tb_frame
        except BaseException: pass
        """,
    "a group's exceptions hold frames": """
        def f():
            try: 1 / 0
            except Exception as e: return e
        g = ExceptionGroup('x', [f()])
        loot = g.exceptions[0].__traceback__.tb_frame
        """,
    "split hands a predicate what was raised": """
        def f():
            try: 1 / 0
            except Exception as e: return e
        got = []
        ExceptionGroup('x', [f()]).split(lambda e: got.append(e))
        loot = getattr(got[-1], '__traceback__').tb_frame
        """,
    "derive copies a traceback": """
        try: raise ExceptionGroup('x', [ValueError()])
        except ExceptionGroup as e: g = e
        loot = g.subgroup(ValueError).__traceback__.tb_frame
        """,
    "a group in a pattern": """
        try: raise ExceptionGroup('x', [ValueError()])
        except ExceptionGroup as e:
            match e:
                case ExceptionGroup(__traceback__=tb): loot = tb.tb_frame
        """,
    "the context of a group": """
        try:
            try: 1 / 0
            except ZeroDivisionError: raise ExceptionGroup('x', [ValueError()])
        except ExceptionGroup as e: loot = e.__context__.__traceback__.tb_frame
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
