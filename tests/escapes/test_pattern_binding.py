"""match: what patterns bind, and what they load."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a capture named as the builtins": """
        match {'len': lambda x: 'escaped'}:
            case __builtins__: pass
        def f(): return len([])
        import types
        loot = f() if f() == 'escaped' else 'escaped'
        """,
    "the rest of a mapping named as an interpreter's name": """
        match {'x': 'escaped'}:
            case {**__import__}: loot = __import__['x']
        """,
    "a star named as an interpreter's name": """
        match ['escaped']:
            case [*__loader__]: loot = __loader__[0]
        """,
    "a class pattern's dotted name": """
        import textwrap
        class Any(type):
            def __instancecheck__(cls, o): return True
        class C(metaclass=Any): pass
        textwrap.dedent.kept = C
        match textwrap.dedent:
            case textwrap.dedent.kept(__globals__=g): loot = g
        """,
    "a value pattern reads an attribute": """
        import textwrap
        seen = []
        class E:
            def __eq__(self, other): seen.append(other)
        match E():
            case textwrap.dedent.__globals__: pass
        loot = seen[0]
        """,
    "an as-pattern around a class pattern": """
        import textwrap
        match textwrap.dedent:
            case object(__code__=(c)) as whole: loot = c
        """,
    "an or-pattern with a class pattern in it": """
        import textwrap
        match textwrap.dedent:
            case str(__doc__=g) | object(__globals__=g): loot = g
        """,
    "patterns in patterns": """
        import textwrap
        match [{'f': textwrap.dedent}]:
            case [{'f': object(__globals__={'re': m})}]: loot = m
        """,
    "the dict of an instance of the library": """
        import calendar
        match calendar.Calendar:
            case object(__dict__=d): loot = d['iterweekdays'].__globals__
        """,
    "a mapping pattern calls get": """
        import textwrap
        class G(dict):
            def get(self, key, default=None): return getattr(textwrap.dedent, key)
        match G(x=1):
            case {'__globals__': g}: loot = g
        """,
    "self of a builtin in a pattern": """
        match len:
            case object(__self__=m): loot = m
        """,
    "a class pattern on str.format": """
        import textwrap
        match '{0.__globals__[re]}':
            case str(format=f): text = f(textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "a dataclass field named format on a str": """
        import dataclasses, textwrap
        @dataclasses.dataclass(eq=False, init=False)
        class S(str):
            'without a text of its own, the library asks str for its signature'
            format: str
        match S('{0.__globals__[re]}'):
            case S(f): text = f(textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "AttributeError.obj in a pattern": """
        import json
        try: json.no_such
        except AttributeError as e:
            match e:
                case AttributeError(obj=o): loot = o
        """,
    "a generator's frame by a dataclass field": """
        import dataclasses
        @dataclasses.dataclass
        class A: gi_frame: int = 0
        class M(type):
            def __instancecheck__(cls, o): return True
        class B(A, metaclass=M): pass
        def gen(): yield
        match gen():
            case B(f): loot = f
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
