"""Calls: order of evaluation, unpacking, keyword arguments."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("call", "keyword-argument")

test_runs = runs({
    "order of evaluation": """
        log = []
        def t(x): log.append(x); return x
        def f(*a, **k): log.append('called'); return f
        f(t(1), *[t(2)], t(3), x=t(4), **{'y': t(5)}, z=t(6))(t(7))
        t(f)(t(8))(*t([9]), **t({}))
        print([x for x in log if not callable(x)])
        """,
    "keywords": """
        def f(a, _b, *, __c, d_=1): return a, _b, __c, d_
        print(f(1, _b=2, __c=3), f(**{'a': 1, '_b': 2, '__c': 3, 'd_': 4}), dict(if_=1, _=2))
        """,
    "keywords from a mapping": """
        class M:
            def keys(self): print('keys'); return ['a', 'b']
            def __getitem__(self, k): print(k); return k * 2
        print(dict(**M()), (lambda *a, **k: (a, k))(*'xy', **M()))
        """,
    "any callable": """
        class C:
            def __call__(self, *a, **k): return a, k
            @staticmethod
            def s(x): return x
            @classmethod
            def c(cls, x): return cls.__name__, x
        c = C(); m = c.s
        print(c(1, k=2), C.c(3), c.c(4), m(5), C().__call__(6), print.__call__('x'), str.upper('a'))
        """,
    "print inside functions": """
        def outer():
            print('outer')
            def inner(): print('inner', end='!\\n', sep=''); return print
            return inner()
        outer()('last', 1, sep='-')
        """,
    "a generator as the only argument": "print(sum(x for x in [1, 2]), max((x for x in 'ab'), default='z'))",
    "many arguments": f"print(len((lambda *a: a)({', '.join(map(str, range(300)))})))",
    "recursion": "def f(n): return n and n + f(n - 1)\nprint(f(500))",
})  # fmt: skip

test_raises = raises([
    ("TypeError", "def f(a, b): pass\nf(1)"),
    ("TypeError", "def f(a): pass\nf(1, a=2)"),
    ("TypeError", "def f(a, *, b): pass\nf(1, 2)"),
    ("TypeError", "def f(): pass\nf(nope=1)"),
    ("TypeError", "def f(**k): pass\nf(**{1: 2})"),
    ("TypeError", "def f(*, a=1, **k): return a\nf(**{'a': 1}, **{'a': 2})"),
    ("TypeError", "x = 5\nx()"),
    ("TypeError", "print(*1)"),
    ("TypeError", "print(**1)"),
    ("TypeError", "class A:\n  def m(self): pass\nA.m()"),
    ("TypeError", "len()"),
    ("TypeError", "class A:\n  def __call__(self, x): pass\nA()()"),
    ("RecursionError", "def f(): f()\nf()"),
    ("SyntaxError", "f(a=1, a=2)"),
    ("SyntaxError", "f(a=1, 2)"),
    ("SyntaxError", "f(**k, *a)"),
    ("SyntaxError", "f(x for x in a, b)"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 1, 6, "dict(__globals__=1)"),
    ("BJ101", 1, 9, "class A(__init__=1): pass"),
])  # fmt: skip
