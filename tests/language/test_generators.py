"""yield and yield from: what goes in, what comes out, how they end."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("generator",)

test_runs = runs({
    "next, send, throw, close": """
        def g():
            try:
                while True:
                    try: x = yield
                    except ValueError as e: print('caught', e); x = None
                    print('got', x)
            finally: print('closing')
        i = g(); next(i); i.send(1); i.throw(ValueError('q')); i.close(); i.close()
        try: i.throw(KeyError('late'))
        except KeyError as e: print(repr(e))
        print(next(i, 'over'), type(i).__name__, i.__name__)
        """,
    "yield is an expression": """
        def g():
            a = yield
            b = (yield a) + (yield)
            c = [(yield 'list'), (yield)]
            d = f'{(yield "text")}'
            e = yield 1, 2
            f = lambda: (yield)
            x = {(yield 'k'): (yield 'v')}
            return a, b, c, d, e, x, type(f()).__name__
        i = g()
        next(i)
        try:
            for n in range(20): print(i.send(n), end=' ')
        except StopIteration as end: print(end.value)
        """,
    "yield from": """
        def inner():
            r = yield 1
            print('r', r)
            try: yield 2
            except KeyError: yield 'caught'
            return 'returned'
        def outer():
            v = yield from inner()
            print(v)
            yield from [7, 8]
            w = yield from ()
            yield from (lambda: (yield w))()
        o = outer()
        print(next(o), o.send('s'), o.throw(KeyError), list(o))
        """,
    "yield from passes everything on": """
        class I:
            def __iter__(self): return self
            def __next__(self): return 'next'
            def send(self, v): return ('send', v)
            def throw(self, *e): print('throw', e[0]); raise StopIteration('thrown')
            def close(self): print('close')
        def g():
            print((yield from I()))
        i = g(); print(next(i), i.send(5))
        try: i.throw(ValueError)
        except StopIteration: print('end')
        i = g(); next(i); i.close()
        def h():
            try: yield 1
            finally: print('inner closed')
        def k():
            try: yield from h()
            finally: print('outer closed')
        i = k(); next(i); i.close()
        """,
    "return and StopIteration": """
        def g():
            yield 1
            return 'value'
        i = g(); next(i)
        try: next(i)
        except StopIteration as e: print(e.value, e.args)
        def h():
            raise StopIteration('inside')
            yield
        try: next(h())
        except RuntimeError as e: print(e, repr(e.__cause__))
        """,
    "finally and with, when closed or dropped": """
        class CM:
            def __enter__(self): print('enter')
            def __exit__(self, kind, *rest): print('exit', kind.__name__)
        def g():
            with CM():
                try: yield 1
                except GeneratorExit: print('exiting'); raise
                finally: print('finally')
        i = g(); next(i); i.close()
        i = g(); next(i); del i
        for x in g(): break
        print('end')
        """,
    "exceptions in flight are the generator's own": """
        def g():
            try: 1 / 0
            except ZeroDivisionError as e:
                yield 'in handler'
                try: raise
                except ZeroDivisionError as again: yield again is e
        try: raise KeyError('outer')
        except KeyError as outer:
            print(list(g()))
            try: raise ValueError
            except ValueError as e: print(e.__context__ is outer)
        """,
    "methods, closures and hooks": """
        class Tree:
            def __init__(self, v, l=None, r=None): self._v, self._l, self.__r = v, l, r
            def __iter__(self):
                if self._l: yield from self._l
                yield self._v
                if self.__r: yield from self.__r
            def count(self):
                self._n = 0
                while True:
                    self._n += (yield self._n) or 1
        t = Tree(2, Tree(1), Tree(3)); c = t.count(); print(list(t), next(c), c.send(5), next(c))
        """,
    "infinite and lazy": """
        def naturals():
            n = 0
            while True:
                yield n
                n += 1
        import itertools
        print(list(itertools.islice((x * x for x in naturals() if x % 2), 4)))
        """,
})  # fmt: skip

test_raises = raises([
    ("StopIteration", "def g():\n  yield 1\ni = g()\nnext(i)\nnext(i)"),
    ("TypeError", "def g(): yield\ng().send(1)"),
    ("RuntimeError", "def g():\n  try: yield 1\n  except GeneratorExit: yield 2\ni = g()\nnext(i)\ni.close()"),
    ("ValueError", "def g():\n  next(i)\n  yield\ni = g()\nnext(i)"),
    ("KeyError", "def g(): yield 1\ng().throw(KeyError('k'))"),
    ("TypeError", "def g(): yield from 5\nnext(g())"),
    ("ZeroDivisionError", "def g():\n  yield 1\n  1 / 0\nlist(g())"),
    ("SyntaxError", "yield 1"),
    ("SyntaxError", "class A: yield 1"),
    ("SyntaxError", "async def f(): yield from x"),
])  # fmt: skip

test_refused = refused([
    ("BJ303", 2, 1, "def g(): yield\ng().gi_frame"),
    ("BJ303", 2, 1, "def g(): yield\ng().gi_code"),
    ("BJ301", 1, 17, "def f(g): yield g.__globals__"),
    ("BJ303", 1, 1, "f().gi_yieldfrom"),
])  # fmt: skip
