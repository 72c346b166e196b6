"""Methods of library classes, called with an object of the program's for self."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "ConverterMapping's look-up of anything": """
        import configparser, textwrap
        asked = []
        class Name:
            def match(self, text): return self
            def group(self, name): return 'x'
        class Dir:
            def __dir__(self): return ['__globals__']
        class Last:
            def __getattribute__(self, name):
                asked.append(name)
                return object.__getattribute__(self, name)
        class H:
            GETTERCRE = Name()
            first = True
            _data = {}
            def __setattr__(self, name, value): pass
            @property
            def _parser(self):
                if H.first:
                    H.first = False
                    return Dir()
                return Last()
        try: configparser.ConverterMapping.__init__(H(), configparser.ConfigParser())
        except AttributeError: pass
        loot = 'escaped' if '__globals__' in asked else None
        """,
    "TextWrapper's __init__ on a function": """
        import textwrap, json
        textwrap.TextWrapper.__init__(json.loads, initial_indent='escaped')
        f = json.loads.__dict__
        loot = f['initial_indent']
        """,
    "WeakSet's remover by an abstract class's registry": """
        import abc
        class A(abc.ABC): pass
        loot = A._dump_registry.__func__.__globals__
        """,
    "an enum's metaclass on a class of another": """
        import enum
        class F: pass
        loot = enum.EnumMeta.__iter__.__globals__
        """,
    "the stack's callbacks of a stranger": """
        import contextlib
        class F:
            def __init__(self): self._exit_callbacks = []
        class D(list):
            append = list.append
        f = F()
        f._exit_callbacks = D()
        contextlib.ExitStack._push_exit_callback(f, print)
        loot = 'escaped' if f._exit_callbacks else None
        """,
    "singledispatch's own methods": """
        import functools
        class F: pass
        loot = functools.singledispatchmethod.__get__.__globals__
        """,
    "_proto_member sets a member on any class": """
        import enum, textwrap
        kept = []
        class M(enum.EnumMeta):
            def __new__(m, name, bases, ns, **k):
                made = super().__new__(m, name, bases, ns, **k)
                kept.append(dict(ns))
                return made
        class E(enum.Enum, metaclass=M): A = 1
        loot = type(kept[-1]['A']).__set_name__.__globals__ if kept[-1]['A'] != 1 else E.__new__.__globals__
        """,
    "SectionProxy's __init__ is getattr on anything": """
        import configparser
        def f(): pass
        class K(str):
            def __radd__(self, o): return '__globals__'
        f.converters = [K('x')]
        class P: pass
        p = P()
        p.get = lambda *a, **k: 0
        configparser.SectionProxy.__init__(p, f, 'x')
        loot = p.__dict__['__globals__'].keywords['_impl']
        """,
    "ConverterMapping is setattr on anything": """
        import configparser, dataclasses
        loot = []
        @dataclasses.dataclass(init=False, eq=False)
        class A:
            'd'
            x: int = 0
        class K(str):
            def __radd__(self, o): return 'name'
        class Call:
            def __call__(self, *a, **k): return 1
            def __repr__(self): return CODE
        class Inner:
            def __getattr__(self, n): return lambda *a, **k: 1
        class P:
            _get_conv = Call()
        p = P()
        got = []
        class F:
            get = Call()
            def __init__(self, f): self.f = f
        class Values:
            def __iter__(self): return iter(())
        p.values = Values
        c = configparser.ConverterMapping(p)
        c[K('x')] = 1
        if type(p.name).__name__ == 'partial': loot = 'escaped'
        """,
    "a typing alias's __setattr__ on a dataclass field": """
        import typing, dataclasses
        loot = []
        @dataclasses.dataclass(init=False, eq=False)
        class A:
            'd'
            x: int = 0
        class G: pass
        g = G()
        g.__origin__ = dataclasses.fields(A)[0]
        type(typing.List[int]).__setattr__(g, 'name', CODE)
        @dataclasses.dataclass(init=False, eq=False)
        class B(A): 'd'
        repr(B())
        """,
    "pprint of an instance with fields of its own": """
        import dataclasses, pprint, random
        @dataclasses.dataclass
        class Z: _randbelow_with_getrandbits: int = 0
        @dataclasses.dataclass
        class D(random.Random):
            v: int = 0
        d = D()
        d.__dict__['__dataclass_fields__'] = {f.name: f for f in dataclasses.fields(Z)}
        got = []
        class P(pprint.PrettyPrinter):
            def format(self, o, *a):
                got.append(o)
                return 'x' * 200, True, False
        P().pformat(d)
        loot = 'escaped' if '_randbelow' in str(got[-1]) else None
        """,
    "UserDict.__copy__ fills what a __new__ hands out": """
        import collections, json
        class A:
            def __new__(cls): return json.dumps if A.armed else object.__new__(cls)
            armed = False
        a = A()
        a.data = {}
        a.extra = 'escaped'
        A.armed = True
        collections.UserDict.__copy__(a)
        loot = json.dumps.extra
        """,
    "UserList.__copy__ fills what a __new__ of a subclass hands out": """
        import collections, json
        class A(collections.UserList):
            def __new__(cls): return json.dumps if A.armed else object.__new__(cls)
            armed = False
        a = A()
        a.extra = 'escaped'
        A.armed = True
        a.__copy__()
        loot = json.dumps.extra
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
