"""The policy's own state in the interpreter, and code run without exec."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_against_naive_guard, check_attack

ATTACKS = {
    "exec without exec: a signature in the dict of a function": """
        import dataclasses
        class A:
            x: int
            def __new__(cls, *a): return object.__new__(cls)
        A.__new__.__dict__['__text_signature__'] = '($cls, a=sys.executable)'
        dataclasses.dataclass(A)  # the library documents the class with its signature
        loot = 'escaped' if 'python' in A.__doc__ else None
        """,
    "exec without exec: a signature from text": """
        import inspect
        def f(): pass
        f.__dict__['__text_signature__'] = '(a=sys.executable)'
        try: found = inspect.signature(f)
        except ValueError: found = ''
        class C: pass
        C.__new__ = lambda cls: None
        C.__new__.__dict__['__text_signature__'] = '($cls, a=sys.executable)'
        loot = 'escaped' if 'python' in str(inspect.signature(C)) else None
        """,
    "the program's scope in the builtins of a frame": """
        loot = __builtins__
        """,
    "builtins by a class made in C": """
        import collections
        P = collections.namedtuple('P', 'a')
        loot = P.__new__.__globals__
        """,
    "exec without exec: a dataclass's default text": """
        import dataclasses
        loot = []
        A = dataclasses.make_dataclass('A', [('x', int, 0)], init=False, eq=False, repr=False)
        f = dataclasses.fields(A)[0]
        f.name = CODE
        B = dataclasses.dataclass(init=False, eq=False)(type('B', (A,), {'__annotations__': {}}))
        repr(B())
        """,
    "exec without exec: doctest": """
        import doctest
        got = []
        runner = doctest.DocTestRunner(verbose=False)
        test = doctest.DocTestParser().get_doctest('>>> got.append(__import__("os"))', {'got': got}, 'x', 'x', 0)
        runner.run(test)
        loot = got[0]
        """,
    "exec without exec: timeit": """
        import timeit
        got = []
        timeit.timeit('got.append(__import__("os"))', number=1, globals={'got': got})
        loot = got[0]
        """,
    "exec without exec: string annotations": """
        import inspect
        def f(x: '__import__("os")'): pass
        loot = inspect.get_annotations(f, eval_str=True)['x']
        """,
    "exec without exec: signature with eval_str": """
        import inspect
        def f(x: '__import__("os")'): pass
        loot = inspect.signature(f, eval_str=True).parameters['x'].annotation
        """,
    "exec without exec: a reference evaluated": """
        import typing
        loot = typing.ForwardRef('__import__("os")')._evaluate({}, {}, frozenset()) if 0 else None
        got = []
        try: typing.ForwardRef('got.append(1)')._evaluate({'got': got}, {}, recursive_guard=frozenset())
        except TypeError: pass
        loot = 'escaped' if got else None
        """,
    "exec without exec: logging's configuration": """
        import logging.config
        loot = logging.config.BaseConfigurator({}).resolve('os')
        """,
    "exec without exec: logging's configuration names a function": """
        import logging.config
        logging.config.dictConfig({"version": 1, "handlers": {"x": {
            "()": "os.popen", "cmd": "true"}}, "formatters": {"y": {"()": "os.getpid"}}})
        loot = 'escaped'
        """,
    "exec without exec: logging's configuration names a value": """
        import logging, logging.config
        logging.config.dictConfig({"version": 1, "handlers": {"x": {
            "class": "logging.StreamHandler", "stream": "ext://os.system"}},
            "root": {"handlers": ["x"]}})
        loot = logging.getLogger().handlers[0].stream
        """,
    "exec without exec: unittest loads by name": """
        import unittest
        loot = unittest.mock._importer('os') if hasattr(unittest, 'mock') else __import__('os')
        """,
    "exec without exec: pickle": """
        import pickle
        loot = pickle.loads(b'cposix\\nsystem\\n.')
        """,
    "exec without exec: code objects": """
        import code
        got = []
        code.InteractiveInterpreter({'got': got}).runsource('got.append("escaped")')
        loot = got[0]
        """,
    "a traceback's text reads the locals": """
        import traceback
        try: 1 / 0
        except ZeroDivisionError as e: loot = next(traceback.walk_tb(e.__traceback__))[0]
        """,
    "objects of the garbage collector": """
        import gc
        loot = [o for o in gc.get_objects() if type(o).__name__ == 'module'][:1]
        """,
    "the frames of all threads": """
        import sys
        loot = list(sys._current_frames().values())
        """,
    "an audit hook": """
        import sys
        seen = []
        sys.addaudithook(lambda name, args: seen.append(args))
        compile('1', 'x', 'eval')
        loot = 'escaped' if seen else None
        """,
    "ctypes": """
        import ctypes
        loot = 'escaped' if ctypes.pythonapi else None
        """,
    "a dataclass field with code for a name": """
        import dataclasses
        loot = []
        @dataclasses.dataclass(init=False, eq=False)
        class A: x: int = 0
        dataclasses.fields(A)[0].name = CODE
        @dataclasses.dataclass(init=False, eq=False)
        class B(A): pass
        repr(B())
        """,
    "annotations with code for a name": """
        import dataclasses
        loot = []
        A = type('A', (), {'__annotations__': {CODE: int}})
        repr(dataclasses.dataclass(init=False, eq=False)(A)())
        """,
    "exec by name in a list": "loot = [f for f in (print, exec)][1]",
    "ForwardRef's __init__ leaves a code object in another": """
        # before 3.14: the text is compiled when it is evaluated
        import typing
        class A: pass
        a = A()
        type(typing.List['x'].__args__[0]).__init__(a, 'open')
        loot = a.__dict__['__forward_code__']
        """,
    "a function of a code object, made by library code": """
        # before 3.12: functions take attributes for type parameters, which update_wrapper() sets
        import functools, types, typing
        class A: pass
        a = A()
        type(typing.List['x'].__args__[0]).__init__(a, 'open')
        loot = functools.singledispatch(types.FunctionType)(a.__dict__['__forward_code__'], {})()
        """,
    "CVE-2026-55830 a hook's name as an argument": """
        import textwrap
        class C: pass
        def f(m, _write_=lambda o: o, /):
            m.extra = 1
            return m.__globals__
        loot = f(textwrap.dedent)
        """,
    "singledispatch evaluates annotations": """
        import functools
        got = []
        @functools.singledispatch
        def f(x): pass
        def g(x: '__import__("os")'): pass
        try:
            f.register(g)
        except TypeError as e:
            if 'module' in str(e): loot = 'escaped'
        """,
    "typing.get_type_hints evaluates annotations": """
        import typing
        class A:
            x: '[].append.__self__.__class__ and __import__("os")'
        try:
            loot = typing.get_type_hints(A)['x']
        except TypeError as e:
            loot = 'escaped'
        """,
}

# These attack the hooks themselves, which plain Python does not have. The control is the same
# technique against a naive guard: a function of the program named `write`, or a view.
AGAINST_NAIVE_GUARDS = {
    "the globals of timed text hide a hook": (
        """
        import timeit
        got = []
        def write(o): raise TypeError
        timeit.timeit('got.append(write(1))', number=1, globals={'got': got, 'write': lambda o: 'escaped'})
        loot = got[0]
        """,
        """
        import random, timeit
        got = []
        same = lambda o: o
        names = {'got': got, 'R': random.Random, '@private': same, '@dunder': same, '@write': same}
        timeit.timeit('got.append(R.__dict__)', number=1, globals=names)
        loot = 'escaped' if got else None
        """,
    ),
    "the globals of a docstring's examples hide a hook": (
        """
        import doctest
        got = []
        def write(o): raise TypeError
        def f():
            '>>> got.append(write(1))'
        doctest.run_docstring_examples(f, {'got': got, 'write': lambda o: 'escaped'})
        loot = got[0]
        """,
        """
        import doctest, random
        got = []
        def f():
            '>>> got.append(R()._randbelow)'
        same = lambda o: o
        names = {'got': got, 'R': random.Random, '@private': same, '@dunder': same, '@write': same}
        doctest.run_docstring_examples(f, names)
        loot = 'escaped' if got else None
        """,
    ),
    "text of another module's name makes classes there": (
        """
        import timeit
        got = []
        timeit.timeit('class C: pass\\ngot.append(C)', number=1, globals={'got': got, '__name__': 'os'})
        loot = 'escaped' if got[0].__module__ == 'os' else None
        """,
        """
        import timeit
        got = []
        timeit.timeit('class C: pass\\ngot.append(C)', number=1, globals={'got': got, '__name__': 'os'})
        loot = 'escaped' if got[0].__module__ == 'os' else None
        """,
    ),
    "a class's namespace that answers for hooks": (
        """
        def write(o): raise TypeError
        class Evil(dict):
            def __missing__(self, key):
                if key == 'write': return lambda o: 'escaped'
                raise KeyError(key)
        class M(type):
            @classmethod
            def __prepare__(m, *a): return Evil()
        class X(metaclass=M): loot = write(1)
        loot = X.loot
        """,
        """
        import textwrap
        class Evil(dict):
            def __missing__(self, key):
                if key[0] == '@': return lambda o: o
                raise KeyError(key)
        class Any:
            def __getattr__(self, name):
                if name == '__prepare__': return lambda *a, **k: Evil()
                raise AttributeError(name)
            def __call__(self, *a, **k): return 1
        class X(metaclass=Any()):
            textwrap.dedent.evil = 'escaped'
        loot = textwrap.dedent.evil
        """,
    ),
    "a keyword argument named as a hook": (
        """
        def write(o): raise TypeError
        def f(**names):
            globals().update(names)
            return write(1)
        loot = f(write=lambda o: 'escaped')
        """,
        """
        import textwrap
        def f(**names):
            textwrap.dedent.x = 'escaped'
            return textwrap.dedent.x
        loot = f(**{'@write': lambda o: o, '@private': lambda o: o, '@dunder': lambda o: o})
        """,
    ),
    "a class attribute named as a hook": (
        """
        def write(o): raise TypeError
        X = type('X', (), {'write': staticmethod(lambda o: 'escaped')})
        write = X.write
        loot = write(1)
        """,
        """
        import textwrap
        X = type('X', (), {'@write': staticmethod(lambda o: o), '@private': lambda o: o})
        class Y(X):
            textwrap.dedent.x = 'escaped'
        loot = textwrap.dedent.x
        """,
    ),
    "a global named as a hook, through setattr": (
        """
        import sys
        def write(o): raise TypeError
        setattr(sys.modules['__main__'], 'write', lambda o: 'escaped')
        loot = write(1)
        """,
        """
        import sys, textwrap
        setattr(sys.modules['__main__'], '@write', lambda o: o)
        textwrap.dedent.x = 'escaped'
        loot = textwrap.dedent.x
        """,
    ),
    "an argument's default that hides a hook": (
        """
        def write(o): raise TypeError
        def f(write=lambda o: 'escaped'): return write(1)
        loot = f()
        """,
        """
        import textwrap
        def f(_write_=lambda o: o, _getattr_=getattr):
            textwrap.dedent.x = 'escaped'
            return textwrap.dedent.x
        loot = f()
        """,
    ),
    "the object that stands for another in an augmented store": (
        """
        kept = []
        class View:
            def __init__(self, o): self.o = o
        def private(o): kept.append(View(o)); return kept[-1]
        class A: pass
        private(A())._x = 1
        kept[0].o.y = 'escaped'
        loot = kept[0].o.y
        """,
        """
        import random
        kept = []
        class N:
            def __radd__(self, other): kept.append(other); return 1
            def __iadd__(self, other): kept.append(other); return 1
        r = random.Random()
        try: r._x += N()
        except AttributeError as e: kept.append(e.obj)
        loot = 'escaped' if any(k is not None for k in kept) else None
        """,
    ),
    "the error of a hook shows the hook": (
        """
        def write(o): raise TypeError
        try: write(1)
        except TypeError as e: loot = e.__traceback__.tb_next.tb_frame
        """,
        """
        import textwrap
        loot = 'escaped'
        try: textwrap.dedent.x = 1
        except AttributeError as e:
            match e:
                case AttributeError(args=[_], obj=None, __context__=None, __cause__=None): loot = None
        """,
    ),
    "a decorator with a hook's name in its closure": (
        """
        write = lambda o: 'escaped'
        def f():
            nonlocal_write = write
            def g(): return nonlocal_write(1)
            return g
        loot = f()()
        """,
        """
        import textwrap
        def f():
            _write_ = lambda o: o
            def g():
                textwrap.dedent.x = 'escaped'
                return textwrap.dedent.x
            return g
        loot = f()()
        """,
    ),
    "an Enum whose members are hooks": (
        """
        import enum
        E = enum.Enum('E', {'write': 'escaped'})
        globals().update({m.name: m.value for m in E})
        loot = write
        """,
        """
        import enum, textwrap
        E = enum.Enum('E', {'@write': 'escaped', '@private': 'escaped'})
        class F(enum.Enum):
            textwrap.dedent.x = 'escaped'
        loot = textwrap.dedent.x
        """,
    ),
    "AttributeError shows the view behind a hook": (
        """
        class View:
            def __init__(self, o): self.o = o
        try: View(1).nothing
        except AttributeError as e: loot = 'escaped' if e.obj.o == 1 else None
        """,
        """
        import json
        try: json.dumps._nothing
        except AttributeError as e: loot = 'escaped' if e.obj is not None else None
        """,
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])


@pytest.mark.parametrize("name", AGAINST_NAIVE_GUARDS)
def test_attack_on_the_hooks(name: str) -> None:
    control, attack = AGAINST_NAIVE_GUARDS[name]
    check_against_naive_guard(control, attack)
