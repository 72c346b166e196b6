"""What `import` hands out, and what the library remembers."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a proxy's own dict": "import json\nloot = json.__dict__",
    "a class of a module is replaced for its functions": """
        import textwrap
        class W:
            def __init__(self, **options): pass
            def fill(self, text): return 'escaped'
        textwrap.TextWrapper = W
        loot = textwrap.fill('x')
        """,
    "a class of a module, by setattr": """
        import pprint
        class P:
            def __init__(self, **options): pass
            def pformat(self, value): return 'escaped'
        setattr(pprint, 'PrettyPrinter', P)
        loot = pprint.pformat(1)
        """,
    "a module's attribute by object's own method": """
        import math
        object.__setattr__(math, 'pi', 'escaped')
        loot = math.pi
        """,
    "a module's attribute deleted": """
        import math
        del math.pi
        loot = None if hasattr(math, 'pi') else 'escaped'
        """,
    "a cache of typing shows its keys": """
        import typing
        seen = []
        class K:
            def __hash__(self): return hash(bytes)
            def __eq__(self, other):
                seen.append(other)
                return False
            def __call__(self): pass
        typing.IO[K()]  # the library has asked for typing.IO[bytes]
        loot = 'escaped' if bytes in seen else None
        """,
    "the cache of re": """
        import re
        loot = re._cache and 'escaped'
        """,
    "the cache of a cached function": """
        import functools
        @functools.cache
        def f(x): return x
        loot = f.__wrapped__.__globals__
        """,
    "the cache of a library's cached function": """
        import urllib.parse
        loot = urllib.parse.urlsplit.__wrapped__.__globals__
        """,
    "the registry of singledispatch": """
        import functools
        @functools.singledispatch
        def f(x): pass
        loot = f.register.__globals__
        """,
    "the registry of overloads": """
        import typing
        loot = typing.get_overloads.__globals__
        """,
    "a dict behind a mappingproxy by a reflected or": """
        import types, re
        got = []
        class E:
            def __ror__(self, other): got.append(other)
        re.RegexFlag.__members__ | E()
        got[0]['ESCAPED'] = 'escaped'
        loot = re.RegexFlag.__members__['ESCAPED']
        """,
    "a dict behind a mappingproxy by equality": """
        import re
        got = []
        class E:
            def __eq__(self, other): got.append(other)
        re.RegexFlag.__members__ == E()
        got[0]['ESCAPED'] = 'escaped'
        loot = re.RegexFlag.__members__['ESCAPED']
        """,
    "the members of an enum of the library": """
        import re
        re.RegexFlag._member_map_['X'] = 'escaped'
        loot = re.RegexFlag.__members__['X']
        """,
    "the table of copy's reducers": """
        import copyreg
        class A: pass
        copyreg.dispatch_table[int] = lambda x: 'escaped'
        loot = copyreg.dispatch_table[int](1)
        """,
    "the abc's own registry": """
        import collections.abc
        loot = collections.abc.Mapping._abc_impl and 'escaped'
        """,
    "UserDict.copy goes to the library's copy": """
        import collections, textwrap
        class A:
            def __new__(cls): return cls.answer or object.__new__(cls)
            answer = None
            def update(self, other): pass
        a = A()
        a.data = {}
        a.__dict__['__getstate__'] = lambda: (None, {'__defaults__': ('escaped',)})
        A.answer = textwrap.dedent
        try: collections.UserDict.copy(a)
        except Exception: pass
        try: textwrap.dedent()
        except TypeError: pass
        else: loot = 'escaped'
        loot = 'escaped' if textwrap.dedent('x') and textwrap.dedent.__defaults__ else None
        """,
    "a dict behind a mappingproxy by way of a UserDict": """
        import collections, re
        got = []
        class E:
            def __ror__(self, other):
                got.append(other)
                return {}
        u = collections.UserDict()
        u.data = E()
        re.RegexFlag.__members__ | u
        got[0]['ESCAPED'] = 'escaped'
        loot = re.RegexFlag.__members__['ESCAPED']
        """,
    "a dict behind a mappingproxy by way of a UserList": """
        import collections, re
        got = []
        class E:
            def __eq__(self, other):
                got.append(other)
                return True
        u = collections.UserList()
        u.data = E()
        re.RegexFlag.__members__ == u
        got[0]['ESCAPED'] = 'escaped'
        loot = re.RegexFlag.__members__['ESCAPED']
        """,
    "a dict behind a mappingproxy by way of another one": """
        import re, types
        got = []
        class E:
            def __getitem__(self, key): raise KeyError(key)
            def __eq__(self, other):
                got.append(other)
                return True
            def __ror__(self, other):
                got.append(other)
                return {}
        re.RegexFlag.__members__ == types.MappingProxyType(E())
        re.RegexFlag.__members__ | types.MappingProxyType(E())
        for found in got: found['ESCAPED'] = 'escaped'
        loot = re.RegexFlag.__members__['ESCAPED']
        """,
    "the context variable in which decimal keeps its context": """
        import contextvars, decimal
        decimal.getcontext()
        class C: pass
        for variable in contextvars.copy_context():
            if variable.name == 'decimal_context': variable.set(C)
        loot = 'escaped' if decimal.getcontext() is C else None
        """,
    "decimal's context variable, set by library code": """
        import contextvars, decimal, heapq
        decimal.getcontext()
        class C: pass
        for variable in contextvars.copy_context(): list(heapq.merge([C], key=variable.set))
        loot = 'escaped' if decimal.getcontext() is C else None
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
