"""Descriptors: of the program on others' objects, of others on the program's."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "__set_name__ gets a class in the making": """
        class D:
            def __set_name__(self, owner, name):
                owner.__getattribute__ = lambda s, n: 'escaped'
        class X: d = D()
        loot = X().anything
        """,
    "__get__ of a library function": """
        import textwrap
        method = textwrap.dedent.__get__(1)
        loot = method.__func__.__globals__
        """,
    "a property's getter's globals": """
        import fractions
        loot = fractions.Fraction.numerator.fget.__globals__
        """,
    "the cached_property's function": """
        import statistics
        loot = type(statistics.NormalDist).__dict__ and statistics.NormalDist.mean.fget.__globals__
        """,
    "a member descriptor of a library class": """
        import types
        get = types.FunctionType.__dict__['__globals__'].__get__
        import textwrap
        loot = get(textwrap.dedent)
        """,
    "a member descriptor by the class itself": """
        import types, textwrap
        loot = types.FunctionType.__globals__.__get__(textwrap.dedent)
        """,
    "a getset descriptor of generators": """
        import types
        def g(): yield
        loot = types.GeneratorType.gi_frame.__get__(g())
        """,
    "a descriptor of another class in one's own": """
        import types
        class X: f = types.FunctionType.__dict__['__code__']
        def g(): pass
        loot = X.__dict__['f'].__get__(g)
        """,
    "contextmanager copies a class's descriptors": """
        import contextlib, types
        helper = contextlib.contextmanager(types.GeneratorType)
        def g(): yield
        loot = helper.gi_frame.__get__(g())
        """,
    "lru_cache copies a class's descriptors": """
        import functools, types
        helper = functools.lru_cache(types.GeneratorType)
        def g(): yield
        loot = helper.gi_code.__get__(g())
        """,
    "slots that name the class": """
        class X: __slots__ = ('__class__',)
        x = X()
        X.__dict__['__class__'].__set__(x, int)
        loot = 'escaped' if isinstance(x, int) else None
        """,
    "a slot's descriptor on another object": """
        class X: __slots__ = ('name',)
        set_name = X.name.__set__
        x = X()
        set_name(x, 'escaped')
        loot = getattr(type(X.name), '__objclass__').__get__(X.name) and x.name
        """,
    "object.__class__'s descriptor": """
        class A: pass
        class B: x = 'escaped'
        a = A()
        object.__dict__['__class__'].__set__(a, B)
        loot = a.x
        """,
    "partialmethod leaves the module of a builtin": """
        import functools
        class D:
            def __get__(self, o, t=None): return print
            def __call__(self): pass
        class A: m = functools.partialmethod(D())
        loot = A().m.__self__
        """,
    "super as a descriptor of its own": """
        import json
        class E(json.JSONEncoder): pass
        loot = super(E).__get__(E()).encode.__func__.__globals__
        """,
    "a dataclass's __init__ writes to a library function": """
        import dataclasses, json
        @dataclasses.dataclass
        class A: x: int
        A.__init__(json.dumps, 'escaped')
        loot = json.dumps.x
        """,
    "a dataclass's __init__ writes a field's name": """
        import dataclasses
        @dataclasses.dataclass
        class A: name: str
        f = dataclasses.field()
        A.__init__(f, 'escaped')
        loot = f.name
        """,
    "a dataclass's __init__ writes a private name": """
        import dataclasses, graphlib
        @dataclasses.dataclass
        class A: _node2info: object
        sorter = graphlib.TopologicalSorter()
        seen = []
        class D(dict):
            def get(self, *a): return None
            def values(self):
                seen.append(1)
                return ()
        A.__init__(sorter, D())
        sorter.prepare()
        loot = 'escaped' if seen else None
        """,
    "a dataclass's __repr__ reads a private name": """
        import dataclasses, random
        @dataclasses.dataclass(init=False, eq=False)
        class A:
            'd'
            _randbelow: object
        if 'bound method' in A.__repr__(random.Random()): loot = 'escaped'
        """,
    "a dataclass's __eq__ compares private names": """
        import dataclasses, textwrap
        @dataclasses.dataclass(init=False)
        class A:
            'd'
            sentence_end_re: object
        if A.__eq__(textwrap.TextWrapper(), textwrap.TextWrapper()): loot = 'escaped'
        """,
    "a class's __dict__ by its descriptor": """
        import string
        loot = type.__dict__['__dict__'].__get__(string.Template)['substitute'].__globals__
        """,
    "the __setattr__ of a frozen dataclass, from its class's dict": """
        import dataclasses
        class Other: secret = 'escaped'
        @dataclasses.dataclass(frozen=True)
        class A: x: int
        class B(A): pass
        b = B(1)
        A.__dict__['__setattr__'](b, '__class__', Other)
        loot = b.secret
        """,
    "the same by vars(), with super() below": """
        import dataclasses
        class Other: secret = 'escaped'
        @dataclasses.dataclass(frozen=True)
        class A: x: int
        class B(A): pass
        b = B(1)
        for found in vars(A).items():
            if found[0] == '__setattr__': found[1](b, '__class__', Other)
        loot = b.secret
        """,
    "the descriptor of __dict__, from a class's dict": """
        class A: pass
        class D(dict): pass
        a = A()
        A.__dict__['__dict__'].__set__(a, D(x=1))
        loot = 'escaped' if type(a.__dict__) is D else None
        """,
    "what the library leaves in a class's dict": """
        import dataclasses
        @dataclasses.dataclass(frozen=True, slots=True)
        class A: x: int
        @dataclasses.dataclass(slots=True)
        class B: real: int
        loot = A.__dict__['__getstate__'].__globals__
        """,
    "the function of a library's class method": """
        import datetime, collections
        P = collections.namedtuple('P', 'x')
        loot = P.__dict__['_make'].__func__.__globals__
        """,
    "a class method around a library function": """
        import textwrap
        loot = classmethod(textwrap.dedent).__func__.__globals__
        """,
    "what Enum leaves in a class's dict": """
        import enum
        class E(enum.Enum):
            def __new__(cls, v):
                e = object.__new__(cls)
                e._value_ = v
                return e
            A = 1
        loot = (E.__dict__['__reduce_ex__'] if '__reduce_ex__' in E.__dict__ else
                E.__dict__['__new__']).__globals__
        """,
    "the dict of a library's class": """
        import string
        loot = vars(string.Template)['substitute'].__globals__
        """,
    "annotations that change while they are read": """
        # before 3.12: dataclass() takes a copy of the annotations
        import dataclasses
        loot = []
        class D:
            def __get__(self, o, t):
                notes = t.__annotations__
                if notes.pop('b', None): notes[CODE] = int
                return 1
        class A:
            a: int = D()
            b: int = 1
        repr(dataclasses.dataclass(init=False, eq=False)(A)())
        """,
    "a lying default in a dataclass": """
        import dataclasses
        loot = []
        class Fake:
            init = True; repr = True; compare = False; hash = None; kw_only = False
            default = dataclasses.MISSING; default_factory = dataclasses.MISSING
            type = int; metadata = {}
            def __setattr__(self, k, v):
                if k != 'name': object.__setattr__(self, k, v)
            name = CODE
            __class__ = property(lambda self: dataclasses.Field)
        class A:
            x: int = Fake()
        repr(dataclasses.dataclass(init=False, eq=False)(A)())
        """,
    "a classmethod hands a cached_property any object: its __dict__ is read": """
        # before 3.13: a classmethod hands its argument on to no other descriptor
        import enum, functools
        class A: _convert_ = functools.cached_property(lambda self: None)
        convert = classmethod(A._convert_).__get__(None, enum.EnumMeta)
        got = {}
        convert(enum.IntEnum, 'E', 'os', lambda name: got.setdefault(name, name) and False)
        loot = 'escaped' if 'system' in got else None
        """,
    "a classmethod hands a cached_property any object: its __dict__ is written": """
        # before 3.13: a classmethod hands its argument on to no other descriptor
        import functools, json
        class A: extra = functools.cached_property(lambda self: 'escaped')
        classmethod(A.extra).__get__(None, json.dumps)
        loot = json.dumps.extra
        """,
    "a classmethod around a partialmethod around a cached_property": """
        # before 3.13: a classmethod hands its argument on to no other descriptor
        import functools, json
        class A: extra = functools.cached_property(lambda self: print)
        around = classmethod(functools.partialmethod(A.extra))
        around.__get__(None, json.dumps)
        loot = 'escaped' if json.dumps.extra is print else None
        """,
    "singledispatchmethod hands a cached_property any object": """
        # before 3.13: a classmethod hands its argument on to no other descriptor
        import functools, json
        class A: extra = functools.cached_property(lambda self: print)
        class S:
            @functools.singledispatchmethod
            def m(self, x): pass
            m.register(int, A.extra)
            kept = m
        try: classmethod(S.__dict__['m'] if hasattr(S, '__dict__') else S.kept).__get__(None, json.dumps)(1)
        except TypeError: pass
        loot = 'escaped' if json.dumps.extra is print else None
        """,
    "a library's property made anew": """
        import fractions
        property.__init__(fractions.Fraction.numerator, lambda self: 'escaped')
        loot = fractions.Fraction(1, 2).numerator
        """,
    "a library's classmethod made anew": """
        import fractions, functools
        raw = functools.lru_cache(fractions.Fraction).from_float
        raw.__init__(lambda cls, value: 'escaped')
        loot = fractions.Fraction.from_float(1.0)
        """,
    "the property behind an enum's value made anew": """
        import enum, functools, re
        raw = functools.lru_cache(enum.Enum).value
        raw.__init__(lambda self: 'escaped')
        loot = re.I.value
        """,
    "a context manager's helper carries raw descriptors": """
        import contextlib, enum, re
        raw = contextlib.contextmanager(enum.Enum).value
        raw.fget = lambda self: 'escaped'
        loot = re.I.value
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
