"""def, return, parameters, lambda, decorators."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("function", "parameter", "decorator", "lambda", "return")

test_runs = runs({
    "what a function says of itself": """
        def outer(a, b=1, *c, d, e=2, **f) -> int:
            'The doc.'
            def inner(): pass
            return inner
        print(outer.__name__, outer.__qualname__, outer.__doc__, outer.__module__)
        print(outer(1, d=1).__qualname__, (lambda: 0).__name__, outer.__annotations__)
        outer.__name__ = 'other'; outer.note = 1; print(outer.__name__, vars(outer))
        """,
    "every kind of parameter": """
        def f(a, b=2, /, c=3, *args, d, e=5, **named): return a, b, c, args, d, e, named
        print(f(1, d=4), f(1, 2, 3, 4, 5, d=6, e=7, a=8, z=9))
        def g(*, a, b=1): return a, b
        def h(a, /, **k): return a, k
        def i(_a, __b=2, *_c, _d=3): return _a, __b, _c, _d
        print(g(a=0), h(1, a=2), i(1), i(1, 2, 3, _d=4))
        def j(a, b,): return a, b
        print(j(*[1], **{'b': 2}))
        """,
    "defaults are evaluated once, in order, outside": """
        log = []
        def t(x): log.append(x); return x
        x = 'global'
        def f(a=t(1), /, b=t(2), *, c=t(3), d=t(4)) -> t(5): return a, b, c, d
        def g(l=[]): l.append(1); return l
        def h(x=x): return x
        g(); g()
        x = 'changed'
        class A:
            n = 3
            def m(self, n=n): return n
        print(log, f(), g(), h(), A().m())
        """,
    "decorators": """
        log = []
        def t(n):
            log.append(('evaluated', n))
            def decorate(f): log.append(('applied', n)); return f
            return decorate
        def d(x): log.append('default'); return x
        @t(1)
        @t(2)
        def f(a=d(0)): return 'f'
        @t(3)
        class C(d(object)): pass
        @(lambda f: f() + 1)
        def g(): return 1
        @print
        class P: 'never bound'
        class K:
            def _wrap(f): return lambda self: 'wrapped ' + f(self)
            @_wrap
            def m(self): return 'm'
            @staticmethod
            def s(): return 's'
            @property
            def p(self): return self._q
            @p.setter
            def p(self, v): self._q = v
        k = K(); k.p = 4
        decorators = [t(4)]
        @decorators[0]
        def h(): pass
        print(f(), g, P, k.m(), K.s(), k.p, log)
        """,
    "a decorator's name is bound after": """
        def deco(f):
            try: fn
            except NameError as e: print(e)
            return f
        @deco
        def fn(): pass
        """,
    "functools.wraps": """
        import functools
        def logged(f):
            @functools.wraps(f)
            def wrapper(*args, **named): print('call'); return f(*args, **named)
            return wrapper
        @logged
        def add(a, b): 'Adds.'; return a + b
        print(add(1, b=2), add.__name__, add.__doc__)
        """,
    "lambda": """
        f = lambda a, b=2, *c, d=4, **e: (a, b, c, d, e)
        g = lambda: (yield_ := 3)
        h = lambda x: lambda y: x + y
        i = lambda *, _k: _k
        k = lambda a, /: a
        print(f(1), f(1, 2, 3, d=5, z=6), g(), h(1)(2), i(_k=1), k(1), (lambda: None)())
        print(sorted([3, 1, 2], key=lambda v: -v), (lambda self: self._x)(type('A', (), {'_x': 9})()))
        """,
    "return": """
        def a(): return
        def b(): pass
        def c(x): return *x, 3
        def d(): return (yield_ := 1), 2
        def e():
            for i in range(5):
                if i == 2: return i
        print(a(), b(), c([1, 2]), d(), e())
        """,
    "recursion, closures and redefinition": """
        def fact(n): return 1 if n < 2 else n * fact(n - 1)
        def make(n):
            def add(x): return x + n
            n += 10
            return add
        def f(): return 1
        g = f
        def f(): return 2
        print(fact(20), make(1)(1), g(), f())
        """,
    "many parameters": "def f(" + ", ".join(f"p{i}={i}" for i in range(300)) + "): return p299\nprint(f())",
})  # fmt: skip

test_raises = raises([
    ("TypeError", "def f(a, /): pass\nf(a=1)"),
    ("TypeError", "def f(a, b, *, c, d): pass\nf()"),
    ("TypeError", "def f(*, c): pass\nf()"),
    ("TypeError", "(lambda a: a)()"),
    ("TypeError", "def outer():\n  def inner(a): pass\n  inner()\nouter()"),
    ("TypeError", "class A:\n  def m(self, a): pass\nA().m()"),
    ("ZeroDivisionError", "def f():\n  return g()\ndef g():\n  return 1 / 0\nf()"),
    ("ZeroDivisionError", "def f(a=1 / 0): pass"),
    ("TypeError", "@5\ndef f(): pass"),
    ("SyntaxError", "def f(a, a): pass"),
    ("SyntaxError", "def f(a=1, b): pass"),
    ("SyntaxError", "def f(*): pass"),
    ("SyntaxError", "def f(**k, a): pass"),
    ("SyntaxError", "lambda a, a: 1"),
    ("SyntaxError", "return 1"),
    ("SyntaxError", "class A: return 1"),
    ("SyntaxError", "def f(None): pass"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 1, 1, "def __import__(name): pass"),
    ("BJ101", 2, 9, "class A:\n  def f(__builtins__): pass"),
    ("BJ101", 1, 13, "def f(a, *, __class__=1): pass"),
    ("BJ101", 1, 8, "def f(*__import__): pass"),
    ("BJ101", 1, 9, "def f(**__import__): pass"),
    ("BJ101", 1, 8, "lambda __builtins__: 1"),
    ("BJ102", 1, 9, "def f(a=__builtins__): pass"),
    ("BJ102", 1, 11, "lambda x: __import__"),
    ("BJ301", 1, 2, "@f.__globals__\ndef g(): pass"),
    ("BJ301", 3, 12, "def f():\n  def g():\n    return f.__code__"),
])  # fmt: skip
