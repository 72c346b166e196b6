"""Decorators that copy, look up, or call back."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "wraps with names of one's own": """
        import functools, textwrap
        class Holder:
            def __call__(self): pass
        h = functools.wraps(textwrap.dedent, assigned=('__globals__',), updated=())(Holder())
        loot = h.__dict__['__globals__']
        """,
    "wraps shows what it wrapped": """
        import functools, textwrap
        @functools.wraps(textwrap.dedent)
        def f(): pass
        loot = f.__wrapped__.__globals__
        """,
    "total_ordering on a library class": """
        import functools, json
        class L(json.JSONEncoder): pass
        json.JSONEncoder.__lt__ = lambda a, b: True
        functools.total_ordering(json.JSONEncoder)
        loot = 'escaped' if json.JSONEncoder() <= json.JSONEncoder() else None
        """,
    "dataclass on a library class": """
        import dataclasses, json
        dataclasses.dataclass(json.JSONDecoder)
        loot = 'escaped' if json.JSONDecoder() == json.JSONDecoder() else None
        """,
    "final() marks a library class": """
        import typing, collections.abc
        typing.final(collections.abc.Mapping)
        loot = 'escaped' if collections.abc.Mapping.__final__ else None
        """,
    "singledispatch calls back under library code": """
        import functools, textwrap
        get = object.__getattribute__
        loot = functools.singledispatch(get)(textwrap.dedent, '__globals__')
        """,
    "singledispatch reads an annotation as code": """
        import functools
        seen = []
        @functools.singledispatch
        def f(x): pass
        def g(x: 'seen.append(1) or int'): pass
        try: f.register(g)
        except Exception: pass
        loot = 'escaped' if seen else None
        """,
    "a decorator as an expression that reaches further": """
        import textwrap
        kept = []
        @(lambda f: kept.append(textwrap.dedent.__globals__))
        def f(): pass
        loot = kept[0]
        """,
    "a class decorator that answers with a namespace": """
        import textwrap
        @lambda cls: textwrap.dedent.__globals__
        class C: pass
        loot = C
        """,
    "a contextmanager's function": """
        import contextlib
        @contextlib.contextmanager
        def c(): yield
        loot = c.__wrapped__.__globals__
        """,
    "recursive_repr's wrapper": """
        import reprlib
        @reprlib.recursive_repr()
        def r(self): return ''
        loot = r.__globals__
        """,
    "enum.verify and its checks": """
        import enum
        loot = enum.verify(enum.UNIQUE).__call__.__func__.__globals__
        """,
    "get_type_hints takes a function's own globals": """
        import typing, textwrap
        class F: pass
        f = F()
        f.__annotations__ = {'x': '__import__("os")'}
        f.__globals__ = {}
        f.__wrapped__ = textwrap.dedent
        del f.__wrapped__
        try: loot = typing.get_type_hints(f)['x']
        except TypeError as e:
            if 'module' in str(e): loot = 'escaped'
        """,
    "lru_cache's __wrapped__": """
        import functools, textwrap
        loot = functools.lru_cache(textwrap.dedent).__wrapped__.__globals__
        """,
    "update_wrapper with updated": """
        import functools, textwrap
        def f(): pass
        functools.update_wrapper(f, textwrap.dedent, assigned=(), updated=('__globals__',))
        loot = f.__globals__['re']
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
