"""Classes that change, pretend, or are made where no statement stands."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "an object that changes its class": """
        class A:
            def f(self): return None
        class B:
            def f(self): return 'escaped'
        a = A()
        a.__class__ = B
        loot = a.f()
        """,
    "a class changed by setattr": """
        class A: pass
        class B: x = 'escaped'
        a = A()
        setattr(a, '__class__', B)
        loot = a.x
        """,
    "a class changed by object's own method": """
        class A: pass
        class B: x = 'escaped'
        a = A()
        object.__setattr__(a, '__class__', B)
        loot = a.x
        """,
    "a class changed by a frozen dataclass's method": """
        import dataclasses
        @dataclasses.dataclass(frozen=True)
        class A: 'd'
        class A1(A): pass
        class A2(A): x = 'escaped'
        a = A1()
        A.__setattr__(a, '__class__', A2)
        loot = a.x
        """,
    "an object that says it is another": """
        import dataclasses
        class Liar:
            @property
            def __class__(self): return dataclasses.Field
        loot = 'escaped' if isinstance(Liar(), dataclasses.Field) else None
        """,
    "the class cell of a method": """
        class A:
            def f(self): return __class__
        loot = A().f.__func__.__closure__[0]
        """,
    "bases that change": """
        import json
        class A: pass
        class B(A): pass
        class C(json.JSONDecoder): pass
        B.__bases__ = (C,)
        loot = B.decode.__globals__
        """,
    "bases that change by setattr": """
        class A: pass
        class Z: x = 'escaped'
        class B(A): pass
        setattr(B, '__bases__', (Z,))
        loot = B.x
        """,
    "bases that change by type's own method": """
        class A: pass
        class Z: x = 'escaped'
        class B(A): pass
        type.__setattr__(B, '__bases__', (Z,))
        loot = B.x
        """,
    "type of a type of a type, called with a namespace": """
        make = ().__class__.__class__
        X = make('X', (), {'__getattribute__': lambda self, name: 'escaped'})
        loot = X().anything
        """,
    "type.__new__ by its own name": """
        X = type.__new__(type, 'X', (), {'__getattribute__': lambda self, name: 'escaped'})
        loot = X().anything
        """,
    "type.__call__": """
        X = type.__call__(type, 'X', (), {'__getattribute__': lambda self, name: 'escaped'})
        loot = X().anything
        """,
    "new_class with a body": """
        import types
        X = types.new_class('X', (), {}, lambda ns: ns.update(__getattribute__=lambda s, n: 'escaped'))
        loot = X().anything
        """,
    "a class that is not meant to be derived from": """
        import dataclasses
        class F(dataclasses.Field):
            def __init__(self): pass
        loot = 'escaped' if F() is not None else None
        """,
    "a real module's class, called": """
        import math
        loot = type(math)('posix')
        """,
    "a library class's method is replaced": """
        import json
        json.JSONEncoder.default = lambda self, o: 'escaped'
        loot = json.loads(json.dumps(object()))
        """,
    "a library class's method is replaced by type's own": """
        import json
        type.__setattr__(json.JSONEncoder, 'default', lambda self, o: 'escaped')
        loot = json.loads(json.dumps(object()))
        """,
    "a library class's method is deleted": """
        import fractions
        del fractions.Fraction.limit_denominator
        loot = None if hasattr(fractions.Fraction, 'limit_denominator') else 'escaped'
        """,
    "__mro_entries__ that gives an unreviewed base": """
        import dataclasses
        class E:
            def __mro_entries__(self, bases): return (dataclasses.Field,)
        class X(E()): pass
        loot = 'escaped' if issubclass(X, dataclasses.Field) else None
        """,
    "type(module)": """
        import math
        loot = type(math)('x')
        """,
    "a class that was never finished, and is nobody's": """
        import re
        got, shown = [], []
        class Show:
            def __set_name__(self, owner, name):
                shown.append(owner)
                raise ValueError
        try:
            class X(dict):
                a = Show()
                def __eq__(self, other):
                    got.append(other)
                    return True
        except (ValueError, RuntimeError): pass
        re.RegexFlag.__members__ == shown[0]()
        got[0]['ESCAPED'] = 'escaped'
        loot = re.RegexFlag.__members__['ESCAPED']
        """,
    "a class that its base did not want": """
        import re
        got, shown = [], []
        class Base(dict):
            def __init_subclass__(cls):
                shown.append(cls)
                raise ValueError
        try:
            class X(Base):
                def __ror__(self, other):
                    got.append(other)
                    return {}
        except ValueError: pass
        re.RegexFlag.__members__ | shown[0]()
        got[0]['ESCAPED'] = 'escaped'
        loot = re.RegexFlag.__members__['ESCAPED']
        """,
    "a class made after the end, when the result's repr is asked for": """
        import enum, functools, operator
        kept = []
        class M(type):
            def __instancecheck__(cls, o): return True
            def __repr__(cls):
                kept.append(cls)
                return ''
        names = {'__match_args__': ('_convert_',)}
        class Makes:  # in C alone: no frame of the program's is there
            __repr__ = staticmethod(functools.partial(
                functools.reduce, operator.mod, map(M, ['X'], [()], [names]), '%.0s'))
        class Uses:
            def __repr__(self):
                global loot
                if not kept: return ''
                X = kept[0]
                match enum.EnumMeta:
                    case X(convert): pass
                got = {}
                convert(enum.IntEnum, 'E', 'os', lambda name: got.setdefault(name, name) and False)
                loot = 'escaped' if 'system' in got else None
                return ''
        loot = None
        [Makes(), Uses()]
        """,
    "a class made amid an import, by a stream that hears of a generator's error": """
        import contextlib, enum, functools, itertools, operator
        kept = []
        class M(type):
            def __instancecheck__(cls, o): return True
            def __init__(cls, *a): kept.append(cls)
        names = {'__match_args__': ('_convert_',)}
        classes = map(M, itertools.repeat('X'), itertools.repeat(()), itertools.repeat(names))
        class Stream: flush = staticmethod(functools.partial(int))
        def g():
            try: yield
            finally: raise ValueError
        def leave_garbage():
            for _ in range(30):
                x = g()
                next(x)
                cycle = [x]
                cycle.append(cycle)
        with contextlib.redirect_stderr(Stream()):
            for codec in ('cp037', 'cp1006', 'cp1026', 'cp1125', 'cp1140', 'cp1250', 'cp1251', 'cp1253',
                          'cp1254', 'cp1255', 'cp1256', 'cp1257', 'cp424', 'cp437', 'cp500', 'cp720',
                          'cp737', 'cp775', 'cp850', 'cp852', 'cp855', 'cp856', 'cp857', 'cp858',
                          'cp860', 'cp861', 'cp862', 'cp863', 'cp864', 'cp865', 'cp866', 'cp869',
                          'cp874', 'cp875', 'koi8_r', 'koi8_t', 'koi8_u', 'kz1048', 'mac_arabic',
                          'mac_croatian', 'mac_cyrillic', 'mac_farsi', 'mac_greek', 'mac_iceland'):
                Stream.write = staticmethod(functools.partial(
                    functools.reduce, operator.is_, itertools.islice(classes, 1)))  # C alone
                leave_garbage()
                ''.encode(codec)
        got = {}
        for X in kept:
            try:
                match enum.EnumMeta:
                    case X(convert):
                        convert(enum.IntEnum, 'E', 'os', lambda n: got.setdefault(n, n) and False)
                        break
            except (TypeError, AttributeError): pass
        loot = 'escaped' if 'system' in got else None
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
