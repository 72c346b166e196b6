"""From an object to a namespace, attribute by attribute."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "the globals of a library function": """
        import textwrap
        loot = textwrap.dedent.__globals__
        """,
    "the globals of a method of a library class": """
        import json
        loot = json.JSONEncoder.encode.__globals__
        """,
    "the globals of ones own function": """
        def f(): pass
        loot = f.__globals__
        """,
    "the builtins of ones own function": """
        def f(): pass
        loot = f.__builtins__
        """,
    "the builtins of a lambda in a default": """
        def f(g=lambda: 0): return g.__builtins__
        loot = f()
        """,
    "a bound method's function's globals": """
        import random
        loot = random.random.__self__.seed.__func__.__globals__
        """,
    "a class's init's globals": """
        import fractions
        loot = fractions.Fraction.limit_denominator.__globals__
        """,
    "the dict of a class of the library": """
        import string
        loot = string.Template.__dict__['substitute'].__globals__
        """,
    "the order of classes, down to a loader": """
        for c in ().__class__.__mro__[1].__subclasses__():
            if c.__name__ == 'FrozenImporter': loot = c.load_module.__func__.__globals__
        """,
    "the base of a base, computed": """
        o = getattr(getattr((), '__class__'), '__base__')
        for c in getattr(o, '__sub' + 'classes__')():
            if c.__name__ == '_wrap_close': loot = c.__init__.__globals__
        """,
    "a reducer's function": """
        class A: pass
        loot = A().__reduce_ex__(2)[0].__globals__
        """,
    "the module of a builtin by its reducer": """
        loot = len.__reduce__.__self__.__self__
        """,
    "a module through a loader": """
        import json
        loot = json.__loader__.load_module.__func__.__globals__
        """,
    "a module through its spec": """
        import json
        loot = json.__spec__.loader.load_module.__func__.__globals__
        """,
    "the dict of a module": """
        import json
        loot = json.__dict__
        """,
    "vars of a module": """
        import json
        loot = vars(json)
        """,
    "object.__getattribute__ on a function": """
        import textwrap
        loot = object.__getattribute__(textwrap.dedent, '__globals__')
        """,
    "type.__getattribute__ on a class": """
        loot = type.__getattribute__(object, '__subclasses__')()
        loot = [c for c in loot if c.__name__ == 'BuiltinImporter'][0].load_module('posix')
        """,
    "super().__getattribute__ of a library method": """
        import json
        class E(json.JSONEncoder):
            def f(self): return super().__getattribute__('encode').__func__.__globals__
        loot = E().f()
        """,
    "an attribute named in two halves": """
        import textwrap
        loot = getattr(textwrap.dedent, ''.join(['__glo', 'bals__']))
        """,
    "an attribute named in bytes": """
        import textwrap
        loot = getattr(textwrap.dedent, b'__globals__'.decode())
        """,
    "hasattr as an oracle for a module's names": """
        import json
        loot = 'escaped' if hasattr(json, '__dict__') and hasattr(json, 'codecs') else None
        """,
    "the module behind a private name": """
        import random
        loot = random._os
        """,
    "the private instance of random": """
        import random
        loot = random._inst.seed.__func__.__globals__
        """,
    "subclasses of object": """
        for c in object.__subclasses__():
            if c.__name__ == 'BuiltinImporter': loot = c.load_module('posix')
        """,
    "subclasses by getattr": """
        loot = [c for c in getattr(object, '__sub' + 'classes__')()
                if c.__name__ == 'BuiltinImporter'][0].load_module('posix')
        """,
    "subclasses of object by a metaclass of the program": """
        class M(type): pass
        found = M.__subclasses__(object)
        loot = [c for c in found if c.__name__ == 'BuiltinImporter'][0].load_module('posix')
        """,
    "subclasses of what a program's class derives from": """
        import abc
        class Own(abc.ABC): pass
        found = Own.__base__.__base__.__subclasses__()
        loot = [c for c in found if c.__name__ == 'BuiltinImporter'][0].load_module('posix')
        """,
    "subclasses by type's own method": """
        found = type.__dict__['__subclasses__'](object)
        loot = [c for c in found if c.__name__ == 'BuiltinImporter'][0].load_module('posix')
        """,
    "self of a builtin": "loot = print.__self__",
    "self of a builtin, computed": "loot = getattr(len, '__self__')",
    "function's code": "def f(): pass\nloot = f.__code__",
    "typing alias's __getattr__": """
        import typing, types, textwrap
        alias = typing.Annotated[int, 1]
        loot = type(alias).__getattr__.__globals__
        """,
    "vars() of the module": "loot = vars()",
    "dict of a class": "loot = getattr(type, '__dict__')['__subclasses__'](object)[0].__init__ and 'escaped'",
    "code object from a function's type": """
        def f(): pass
        loot = type(f.__code__)
        loot = f.__code__
        """,
    "cell of a closure": """
        import os
        def f():
            x = os
            return lambda: x
        loot = f().__closure__[0].cell_contents
        """,
    "make a function of a code object": """
        import types
        def f(): pass
        loot = types.FunctionType(f.__code__, {}).__code__
        """,
    "globals of a method by super": """
        import random
        class R(random.Random):
            def f(self): return super().seed.__globals__
        loot = R().f()
        """,
    "the private method of a library class": """
        import random
        class R(random.Random):
            def f(self): return self._randbelow.__func__
        loot = R().f().__globals__
        """,
    "operator.attrgetter": """
        import operator, textwrap
        loot = operator.attrgetter('__globals__')(textwrap.dedent)
        """,
    "operator.methodcaller": """
        import operator
        loot = operator.methodcaller('__getattribute__', '__globals__')(
            __import__('textwrap').dedent)
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
