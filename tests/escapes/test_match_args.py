"""__match_args__: names that a class pattern loads without a hook."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a list that grows after the check": """
        import textwrap
        class M(type):
            def __instancecheck__(cls, o): return True
        class N(tuple):
            def __iter__(self): return iter(('strip',))
        class C(metaclass=M): __match_args__ = N(('__globals__',))
        C.__match_args__ = ('__globals__',)
        match textwrap.dedent:
            case C(g): loot = g
        """,
    "inherited from a class made by type()": """
        import textwrap
        class M(type):
            def __instancecheck__(cls, o): return True
        B = type('B', (), {'__match_args__': ('__globals__',)})
        class C(B, metaclass=M): pass
        match textwrap.dedent:
            case C(g): loot = g
        """,
    "of a metaclass": """
        import textwrap
        class M(type):
            __match_args__ = ('__globals__',)
            def __instancecheck__(cls, o): return True
        class C(metaclass=M): pass
        match textwrap.dedent:
            case C(g): loot = g
        """,
    "a property of a metaclass": """
        import textwrap
        class M(type):
            @property
            def __match_args__(cls): return ('__globals__',)
            def __instancecheck__(cls, o): return True
        class C(metaclass=M): pass
        match textwrap.dedent:
            case C(g): loot = g
        """,
    "set by super in a metaclass": """
        import textwrap
        class M(type):
            def __instancecheck__(cls, o): return True
            def arm(cls): super().__setattr__('__match_args__', ('__globals__',))
        class C(metaclass=M): pass
        C.arm()
        match textwrap.dedent:
            case C(g): loot = g
        """,
    "set in __init_subclass__": """
        import textwrap
        class M(type):
            def __instancecheck__(cls, o): return True
        class B:
            def __init_subclass__(cls): cls.__match_args__ = ('__globals__',)
        class C(B, metaclass=M): pass
        match textwrap.dedent:
            case C(g): loot = g
        """,
    "names from a namedtuple": """
        import collections
        class M(type):
            def __instancecheck__(cls, o): return True
        P = collections.namedtuple('P', 'gi_frame')
        class C(P, metaclass=M): pass
        def gen(): yield
        match gen():
            case C(f): loot = f
        """,
    "names from a typing.NamedTuple": """
        import typing
        class P(typing.NamedTuple): gi_code: int
        class M(type):
            def __instancecheck__(cls, o): return True
        class C(P, metaclass=M): pass
        def gen(): yield
        match gen():
            case C(c): loot = c
        """,
    "names from make_dataclass": """
        import dataclasses
        class M(type):
            def __instancecheck__(cls, o): return True
        P = dataclasses.make_dataclass('P', ['gi_frame'])
        class C(P, metaclass=M): pass
        def gen(): yield
        match gen():
            case C(f): loot = f
        """,
    "a private name of another's": """
        import random
        class M(type):
            def __instancecheck__(cls, o): return True
        class C(metaclass=M): __match_args__ = ('_randbelow',)
        match random.Random():
            case C(f): loot = f.__func__.__name__ and 'escaped'
        """,
    "globals in a pattern with __match_args__": """
        import textwrap
        class M(type):
            def __instancecheck__(cls, o): return True
        class C(metaclass=M):
            __match_args__ = ('__globals__',)
        match textwrap.dedent:
            case C(g): loot = g
        """,
    "match_args from a metaclass": """
        import textwrap
        class M(type):
            def __instancecheck__(cls, o): return True
            def __getattr__(cls, name): return ('__globals__',)
        class C(metaclass=M): pass
        match textwrap.dedent:
            case C(g): loot = g
        """,
    "match_args set later": """
        import textwrap
        class M(type):
            def __instancecheck__(cls, o): return True
        class C(metaclass=M): pass
        setattr(C, '__match_args__', ('__globals__',))
        match textwrap.dedent:
            case C(g): loot = g
        """,
    "match_args from a descriptor": """
        import textwrap
        class D:
            def __get__(self, o, t): return ('__globals__',)
        class M(type):
            def __instancecheck__(cls, o): return True
        class C(metaclass=M): __match_args__ = D()
        match textwrap.dedent:
            case C(g): loot = g
        """,
    "a NamedTuple's own __match_args__": """
        import enum, typing
        class P(typing.NamedTuple):
            x: int
            __match_args__ = ('_convert_',)
        class M(type):
            def __instancecheck__(cls, o): return True
        class Q(P, metaclass=M): pass
        match enum.EnumMeta:
            case Q(convert): pass
        got = {}
        convert(enum.IntEnum, 'E', 'os', lambda name: got.setdefault(name, name) and False)
        loot = 'escaped' if 'system' in got else None
        """,
    "dataclass fields that change once they were looked at": """
        import abc, dataclasses, enum
        @dataclasses.dataclass
        class X: x: int
        names = {}
        class Params: frozen = False
        class Kind:
            def __eq__(self, other): return True
        class Fake:
            init = True
            repr = compare = kw_only = False
            hash = None
            default = default_factory = dataclasses.MISSING
            _field_type = Kind()
            name = '__getattribute__'
        class No:
            def __bool__(self):
                names['x'] = Fake()
                return False
        B = type('B', (abc.ABC,), {'__dataclass_fields__': names, '__dataclass_params__': Params})
        class C(B): 'doc'
        for first in Fake(), dataclasses.fields(X)[0]:
            names['x'] = first
            try: dataclasses.dataclass(C, init=No(), repr=No(), eq=No())
            except TypeError: continue
            break
        C.register(type)
        match enum.EnumMeta:
            case C(get): convert = get(enum.EnumMeta, '_convert_')
        got = {}
        convert(enum.IntEnum, 'E', 'os', lambda name: got.setdefault(name, name) and False)
        loot = 'escaped' if 'system' in got else None
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
