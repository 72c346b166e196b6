"""Strings that lie about what they are."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a name that lies to startswith": """
        import textwrap
        class S(str):
            def startswith(self, *a): return False
        loot = getattr(textwrap.dedent, S('__globals__'))
        """,
    "a name that shows other characters": """
        import textwrap
        class S(str):
            def __getitem__(self, index): return 'x'
            def __iter__(self): return iter('strip')
            def __str__(self): return 'strip'
        loot = getattr(textwrap.dedent, S('__globals__'))
        """,
    "a name that is another when it is asked again": """
        import operator, textwrap
        class S(str):
            def split(self, *a): return ['__globals__']
            def __contains__(self, what): return False
        loot = operator.attrgetter(S('__globals__'))(textwrap.dedent)
        """,
    "a template of a subclass": """
        import textwrap
        class S(str):
            def find(self, *a): return -1
            def __contains__(self, what): return False
        text = S('{0.__globals__[re]}').format(textwrap.dedent)
        if 'module' in text: loot = 'escaped'
        """,
    "a name to setattr": """
        class S(str): pass
        def f(): pass
        def g(): return 'escaped'
        setattr(f, S('__code__'), g.__code__)
        loot = f()
        """,
    "a name to methodcaller": """
        import operator, textwrap
        class S(str): pass
        get = operator.methodcaller(S('__getattribute__'), '__globals__')
        loot = get(textwrap.dedent)
        """,
    "a key in a class's namespace": """
        class S(str): pass
        X = type('X', (), {S('__getattribute__'): lambda self, name: 'escaped'})
        loot = X().anything
        """,
    "a key in __annotations__ of a dataclass": """
        import dataclasses
        loot = []
        class S(str):
            def isidentifier(self): return True
        A = type('A', (), {'__annotations__': {S(CODE): int}})
        repr(dataclasses.dataclass(init=False, eq=False)(A)())
        """,
    "a slot's name": """
        class S(str): pass
        class X: __slots__ = (S('__dict__'),)
        x = X()
        x.__dict__['y'] = 1
        import textwrap
        class Y: __slots__ = (S('gi_frame'),)
        loot = 'escaped' if 'gi_frame' in dir(Y) and type(Y.__slots__[0]) is S else None
        """,
    "a time zone's key that adds up to another path": """
        import zoneinfo
        class K(str):
            def __radd__(self, before): return '/../../../etc/hostname'
        try: zoneinfo.ZoneInfo(K('UTC'))
        except ValueError as e:
            if 'magic' in str(e): loot = 'escaped'
        """,
    "a time zone's key that lies about its length": """
        import zoneinfo
        class K(str):
            def __radd__(self, before): return '/../../../etc/hostname'
            def startswith(self, *a): return False
            def __len__(self): return 3
        try: zoneinfo.ZoneInfo.no_cache(K('UTC'))
        except ValueError as e:
            if 'magic' in str(e): loot = 'escaped'
        """,
    "a converter's key that adds up to another name": """
        import configparser
        class K(str):
            def __radd__(self, before): return '__class__'
        class Other(configparser.ConfigParser): pass
        p = configparser.ConfigParser(converters={})
        try: p.converters[K('x')] = print
        except TypeError as e:
            if '__class__' in str(e): loot = 'escaped'
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
