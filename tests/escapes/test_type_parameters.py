"""PEP 695: names bound in scopes of their own (Python 3.12)."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import sys

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a type parameter named as the builtins (3.12)": """
        def f[__builtins__](x): return __builtins__
        loot = 'escaped' if f(1) is not None else None
        """,
    "a bound that reaches a namespace (3.12)": """
        import textwrap
        def f[T: textwrap.dedent.__globals__](x): pass
        loot = f.__type_params__[0].__bound__
        """,
    "an alias that reaches a namespace (3.12)": """
        import textwrap
        type A = textwrap.dedent.__globals__
        loot = A.__value__
        """,
    "a class's parameter hides a hook's scope (3.12)": """
        import textwrap
        class C[T: (lambda: textwrap.dedent.__globals__)()]: pass
        loot = C.__type_params__[0].__bound__
        """,
}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax of Python 3.12")
@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
