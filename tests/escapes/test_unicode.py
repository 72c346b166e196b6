"""Identifiers and names that normalize to others (NFKC)."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "full-width letters in an attribute": """
        import textwrap
        loot = textwrap.dedent.__ｇlobals__
        """,
    "bold letters in an attribute": """
        import textwrap
        loot = textwrap.dedent.__𝐠𝐥𝐨𝐛𝐚𝐥𝐬__
        """,
    "letters of another style in a name": """
        loot = __𝓫uiltins__
        """,
    "a ligature in an attribute": """
        import enum
        class A: x = 1
        A.__deﬁned__ = 'escaped'
        loot = A.__defined__
        """,
    "full-width underscores": """
        import textwrap
        loot = textwrap.dedent._＿globals＿_
        """,
    "a name computed by normalize": """
        import textwrap, unicodedata
        loot = getattr(textwrap.dedent, unicodedata.normalize('NFKC', '__ｇlobals__'))
        """,
    "a keyword argument that is normalized": """
        def f(**names): return names
        class C: pass
        names = f(__ｇlobals__='escaped')
        loot = names['__globals__']
        """,
    "a keyword argument in a class statement": """
        class B:
            def __init_subclass__(cls, **names): cls.names = names
        class C(B, __ｂuild__='escaped'): pass
        loot = C.names['__build__']
        """,
    "a generator's frame in other letters": """
        def g(): yield
        loot = g().ｇi_frame
        """,
    "an import in other letters": "from ｏs import ｓystem as loot",
    "a global in other letters": """
        def f():
            global __ｎame__
            __name__ = 'escaped'
        f()
        loot = __name__
        """,
    "a dataclass field that is normalized when its text is run": """
        import dataclasses
        N = type('N', (), {'__annotations__': {'gi_ｆrame': int}})
        N = dataclasses.dataclass(init=False, eq=False)(N)
        def g(): yield
        if 'frame at' in N.__repr__(g()): loot = 'escaped'
        """,
    "a pattern's attribute in other letters": """
        import textwrap
        match textwrap.dedent:
            case object(__ｇlobals__=g): loot = g
        """,
    "an f-string in other letters": """
        import textwrap
        text = f'{textwrap.dedent.__ｇlobals__}'
        if "'re'" in text: loot = 'escaped'
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
