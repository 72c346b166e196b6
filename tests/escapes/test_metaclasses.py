"""Metaclasses: orders, look-ups, comparisons and namespaces of classes."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a mixin brings the metaclass __getattr__": """
        import textwrap
        class Mixin:
            def __getattr__(cls, name): return ('__globals__',)
        class M(Mixin, type):
            def __instancecheck__(cls, o): return True
        class X(metaclass=M): pass
        match textwrap.dedent:
            case X(g): loot = g
        """,
    "a mixin's __getattr__, and library code that calls back": """
        import functools, textwrap
        class Mixin:
            def __getattr__(cls, name): return ('__getattribute__',)
        class M(Mixin, type):
            def __instancecheck__(cls, o): return True
        class X(metaclass=M): pass
        match textwrap.dedent:
            case X(get): loot = functools.singledispatch(get)('__globals__')
        """,
    "a mixin brings the metaclass an order": """
        import json
        class Mixin:
            def mro(cls): return [cls, json.JSONDecoder, object]
        class M(Mixin, type): pass
        class X(metaclass=M): pass
        loot = 'escaped' if X.decode is json.JSONDecoder.decode else None
        """,
    "a mixin that learns after the metaclass was made": """
        import json
        class Mixin: pass
        class M(Mixin, type): pass
        Mixin.mro = lambda cls: [cls, json.JSONDecoder, object]
        class X(metaclass=M): pass
        loot = 'escaped' if X.decode is json.JSONDecoder.decode else None
        """,
    "a frozen dataclass for a metaclass sets what it likes": """
        import dataclasses, textwrap
        @dataclasses.dataclass(frozen=True, init=False, eq=False)
        class M(type):
            'd'
            def __instancecheck__(cls, o): return True
        class M2(M): pass
        class X(metaclass=M2): pass
        M.__setattr__(X, '__match_args__', ('__globals__',))
        match textwrap.dedent:
            case X(g): loot = g
        """,
    "a dataclass gives a metaclass an __eq__": """
        import dataclasses
        @dataclasses.dataclass(init=False)
        class M(type): 'd'
        class A(metaclass=M): pass
        class B(metaclass=M): pass
        loot = 'escaped' if A == B else None
        """,
    "a metaclass's __eq__ sees the classes in an abc's cache": """
        import collections.abc
        seen = []
        class M(type):
            want = 0
            def __hash__(cls): return M.want
            def __eq__(cls, other):
                seen.append(other)
                return False
        M.want = hash(collections.OrderedDict)
        isinstance(collections.OrderedDict(), collections.abc.Hashable)
        class C(metaclass=M): pass
        isinstance(C(), collections.abc.Hashable)
        loot = 'escaped' if collections.OrderedDict in seen else None
        """,
    "a metaclass's __eq__ set later": """
        seen = []
        class M(type): pass
        M.__eq__ = lambda cls, other: seen.append(other)
        class C(metaclass=M): pass
        C in [int]
        loot = 'escaped' if int in seen else None
        """,
    "a metaclass's __getattribute__": """
        class M(type):
            def __getattribute__(cls, name): return 'escaped'
        class X(metaclass=M): pass
        loot = X.anything
        """,
    "a callable for a metaclass keeps the namespace": """
        kept = []
        def meta(name, bases, ns):
            ns['__getattribute__'] = lambda self, name: 'escaped'
            return type(name, bases, ns)
        class X(metaclass=meta): pass
        loot = X().anything
        """,
    "a metaclass's __prepare__": """
        class M(type):
            @classmethod
            def __prepare__(m, name, bases): return {'print': 'escaped'}
        class X(metaclass=M): taken = print
        loot = X.taken
        """,
    "__prepare__ from an object that is no class": """
        class Any:
            def __getattr__(self, name):
                if name == '__prepare__': return lambda *a, **k: {'__getattribute__': lambda s, n: 'escaped'}
                raise AttributeError(name)
            def __call__(self, name, bases, ns): return type(name, bases, ns)
        class X(metaclass=Any()): pass
        loot = X().anything
        """,
    "a metaclass's __init__ adds what a class may not have": """
        class M(type):
            def __init__(cls, name, bases, ns): cls.__getattribute__ = lambda s, n: 'escaped'
        class X(metaclass=M): pass
        loot = X().anything
        """,
    "a class of the library by a guest's metaclass": """
        import json
        class M(type): pass
        X = M('X', (json.JSONDecodeError.__base__, json.JSONDecoder), {})
        class N(type):
            def __call__(cls, *a): return cls.decode.__globals__
        loot = N('Y', (json.JSONDecoder,), {})()
        """,
    "type's setter on a class that is not one's own": """
        import fractions
        type.__delattr__(fractions.Fraction, '__hash__')
        loot = 'escaped'
        """,
    "forged __dataclass_fields__ by a metaclass": """
        import dataclasses
        loot = []
        class Fake:
            init = True; repr = True; compare = False; hash = None; kw_only = False
            default = dataclasses.MISSING; default_factory = dataclasses.MISSING
            type = int; metadata = {}; _field_type = getattr(dataclasses, '_FIELD', None)
            name = CODE
        class Params: frozen = False
        class M(type):
            def __getattr__(cls, n):
                if n == '__dataclass_fields__': return {'x': Fake()}
                if n == '__dataclass_params__': return Params
                raise AttributeError(n)
        class B(metaclass=M): pass
        @dataclasses.dataclass(init=False, eq=False)
        class C(B): pass
        repr(C())
        """,
    "a metaclass's own mro": """
        import json
        class M(type):
            def mro(cls): return [cls, json.JSONEncoder, object]
        class X(metaclass=M): pass
        loot = X.encode.__globals__
        """,
    "an enum's metaclass that makes something else": """
        # before 3.13: the namespace that EnumType makes has no __getattribute__
        import enum, functools, textwrap
        got = []
        class X(type):
            def __new__(m, name, bases, ns, **k):
                got.append(ns)
                return object
        class M(enum.EnumMeta, X): pass
        try:
            class E(enum.Enum, metaclass=M): A = 1
        except Exception: pass
        get = got[0]['__getattribute__']
        loot = functools.singledispatch(get)(textwrap.dedent, '__globals__')
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
