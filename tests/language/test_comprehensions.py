"""Comprehensions and generator expressions, nested and asynchronous."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("comprehension", "generator-expression", "async-comprehension")

DRIVE = """
    def drive(coroutine):
        try:
            while True: coroutine.send(None)
        except StopIteration as end: return end.value
"""

test_runs = runs({
    "shapes": """
        print([(x, y) for x in range(4) if x for y in range(x) if y % 2 == 0])
        print([[j * i for j in range(i)] for i in range(4)], {k: v for k, v in zip('ab', [1, 2])})
        print({x % 2 for x in range(5)}, [a + b for a, (b, *_) in [(1, (2, 3))]], [*(x for x in 'ab')])
        print({**{k: 1 for k in 'a'}}, [x for x in [1, 2] if x if x > 1], [lambda: 0 for _ in ()])
        """,
    "scopes": """
        x = 'outer'
        l = [x for x in 'ab']
        class A:
            y = 'A'
            z = [y for y in y]
            w = [x for _ in '1']
        def f():
            fs = [lambda: i for i in range(3)]
            return [g() for g in fs], [(lambda i=i: i)() for i in range(3)]
        print(x, l, A.z, A.w, f())
        """,
    "the first iterable is evaluated outside, at once": """
        log = []
        def t(x): log.append(x); return x
        g = (t(i) for i in t([1, 2]) for j in t('ab'))
        log.append('made')
        next(g)
        print(log)
        try: (i for i in undefined)
        except NameError as e: print(e)
        g = (undefined for i in [1])
        try: next(g)
        except NameError as e: print(e)
        """,
    "a dict's key comes before its value": """
        log = []
        def t(x): log.append(x); return x
        {t(1): t(2) for _ in 'a'}
        print(log)
        """,
    "private names and hooks": """
        class A:
            def __init__(self): self._xs, self.__k = [1, 2], 10
            def f(self): return [x * self.__k for x in self._xs if self._ok(x)]
            def _ok(self, x): return x > 1
            def g(self): return {n: getattr(self, n) for n in ('_xs',)}, sum(x for x in self._xs)
            def h(self):
                [0 for self._i in range(3)]
                return self._i
        print(A().f(), A().g(), A().h())
        """,
    "lazy, closed and sent to": """
        def gen():
            try:
                yield 1
                yield 2
            finally: print('closed')
        g = (x * 2 for x in gen())
        print(next(g)); g.close(); del g
        e = (x for x in [1, 2]); print(list(e), list(e))
        """,
    "asynchronous": DRIVE + """
    async def ag(n=3):
        for i in range(n): yield i
    async def one(x): return x * 10
    async def main():
        a = [x async for x in ag() if x]
        b = {x: y async for x in ag() for y in [x + 1]}
        c = {await one(x) for x in [1, 2]}
        d = [await one(x) async for x in ag() if await one(x) > 5]
        e = [[y async for y in ag(x)] async for x in ag()]
        g = (await one(x) async for x in ag())
        f = [x async for x in g]
        return a, b, sorted(c), d, e, f
    print(drive(main()))
    """,
    "asynchronous generator expression in a plain function": DRIVE + """
    async def ag(): yield 1
    def f(): return (x async for x in ag())
    print(drive(f().__anext__()), type(f()).__name__)
    """,
})  # fmt: skip

test_raises = raises([
    ("ZeroDivisionError", "[1 / x for x in [1, 0]]"),
    ("TypeError", "(x for x in 5)"),
    ("ZeroDivisionError", "g = (x / 0 for x in [1])\nnext(g)"),
    ("StopIteration", "next(x for x in [])"),
    ("RuntimeError", "list(next(iter([])) for _ in [1])"),
    ("NameError", "[x for x in [1]]\nx"),
    ("ValueError", "[a for a, b in [(1,)]]"),
    ("SyntaxError", "[*x for x in y]"),
    ("SyntaxError", "{**x for x in y}"),
    ("SyntaxError", "def f(): [(yield x) for x in y]"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 1, 8, "[1 for __builtins__ in x]"),
    ("BJ101", 1, 11, "(1 for a, __import__ in x)"),
    ("BJ301", 1, 2, "[f.__globals__ for f in x]"),
    ("BJ303", 1, 16, "{1: 2 for x in g.gi_frame}"),
])  # fmt: skip
