"""with: several items, parentheses, targets, what __exit__ is given and says."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("with",)

CM = """
    class CM:
        def __init__(self, name, swallow=False): self.name, self._swallow = name, swallow
        def __enter__(self): print('enter', self.name); return self
        def __exit__(self, kind, value, tb):
            print('exit', self.name, kind and kind.__name__, value, tb is None)
            return self._swallow
"""

test_runs = runs({
    "items": CM + """
    with CM(1): pass
    with CM(2) as a, CM(3) as b: print(a.name, b.name)
    with (CM(4) as a, CM(5)): print('in')
    with (
        CM(6),
        CM(7) as b,
    ): print('in')
    with (CM(8)) as c: pass
    with (yes := CM(9)): print(yes.name)
    """,
    "targets": CM + """
    class A: pass
    x, l = A(), [0]
    class Pair(CM):
        def __enter__(self): return 1, (2, 3)
    with CM(1) as x.a, CM(2) as x._b, CM(3) as l[0], Pair(4) as (p, [q, *r]): print(p, q, r)
    print(x.a.name, x._b.name, l[0].name)
    """,
    "exceptions": CM + """
    with CM(1, True), CM(2): raise ValueError('x')
    try:
        with CM(3), CM(4): raise KeyError('y')
    except KeyError as e: print(repr(e))
    class Raises(CM):
        def __exit__(self, *exc): raise TypeError('from exit')
    try:
        with Raises(5): raise ValueError('first')
    except TypeError as e: print(e, repr(e.__context__))
    """,
    "ways out": CM + """
    def f():
        for i in range(3):
            with CM(i):
                if i == 0: continue
                return i
    print(f())
    """,
    "the target is bound inside": CM + """
    class Bad:
        def __setattr__(self, name, value): raise ValueError('no store')
    try:
        with CM(1) as Bad().x: print('never')
    except ValueError as e: print(e)
    """,
    "contextlib": """
        import contextlib
        @contextlib.contextmanager
        def cm(x):
            print('in')
            try: yield x
            except ValueError as e: print('caught', e)
            finally: print('out')
        with cm(5) as v: raise ValueError(v)
        with contextlib.ExitStack() as stack, contextlib.suppress(KeyError):
            stack.enter_context(cm(6)); stack.callback(print, 'callback')
            {}['k']
        """,
})  # fmt: skip

test_raises = raises([
    ("TypeError", "with 5: pass"),
    ("TypeError", "class A:\n  def __enter__(self): pass\nwith A(): pass"),
    ("TypeError", "class A:\n  __enter__ = None\n  def __exit__(self, *a): pass\nwith A(): pass"),
    ("TypeError", "class A:\n  def __enter__(self): pass\n  def __exit__(self): pass\nwith A(): pass"),
    ("ZeroDivisionError", "class A:\n  def __enter__(self): 1 / 0\n  def __exit__(self, *a): return True\nwith A(): pass"),
    ("SyntaxError", "with x as f(): pass"),
    ("SyntaxError", "with: pass"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 1, 11, "with x as __builtins__: pass"),
    ("BJ101", 2, 16, "with (x as a,\n      y as (b, __import__)): pass"),
    ("BJ304", 1, 11, "with x as a.__class__: pass"),
])  # fmt: skip
