"""Assignment expressions, and the scope they bind in."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a walrus binds the builtins": """
        (__builtins__ := {'print': 1})
        loot = 'escaped' if __builtins__['print'] == 1 else None
        """,
    "a walrus in a comprehension binds outside": """
        [(__import__ := 'escaped') for _ in (1,)]
        loot = __import__
        """,
    "a walrus in a default": """
        def f(x=(__loader__ := 'escaped')): return x
        loot = __loader__
        """,
    "a walrus in a decorator": """
        @(__spec__ := (lambda f: 'escaped'))
        def g(): pass
        loot = g if __spec__ else None
        """,
    "a walrus in a lambda's default": """
        import textwrap
        loot = (lambda g=(h := textwrap.dedent.__globals__): h)()
        """,
    "a walrus in a class body": """
        class C:
            (__getattribute__ := lambda self, name: 'escaped')
        loot = C().x
        """,
    "a walrus in a global function's assert": """
        def f():
            global __name__
            assert (__name__ := 'escaped')
        f()
        loot = __name__
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
