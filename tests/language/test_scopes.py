"""global and nonlocal; what a class body sees; closures."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("global", "nonlocal")

test_runs = runs({
    "global in nested functions": """
        count = 0
        def outer():
            count = 'local'
            def inner():
                global count, made
                count += 1
                made = 'yes'
                def deeper():
                    global count
                    count += 10
                deeper()
            inner()
            return count
        print(outer(), count, made)
        """,
    "global for every way to bind": """
        def f():
            global g, C, v, m, w, a
            def g(): return 'g'
            class C: pass
            for v in [1]: pass
            import math as m
            (w := 2)
            with memoryview(b'x') as a: pass
        f()
        print(g(), C.__qualname__, v, m.pi, w, type(a).__name__)
        """,
    "global in a class body": """
        class A:
            global x, f
            x = 1
            def f(): return 2
            y = x
        print(x, f(), A.y, hasattr(A, 'x'))
        """,
    "global after del": "x = 1\ndef f():\n    global x\n    del x\nf()\nprint('x' in dir())",
    "nonlocal": """
        def counter():
            n = m = 0
            def up():
                nonlocal n, m
                n += 1; m = n
                class K:
                    nonlocal m
                    m = [i + n for i in range(2)]
                def deeper():
                    nonlocal n
                    n *= 10
                deeper()
                return n, m
            return up
        up = counter(); print(up(), up(), counter()())
        """,
    "class scope is not seen from functions": """
        x = 'global'
        class A:
            x = 'class'
            y = [x for _ in range(1)]
            z = [i for i in x]
            w = (lambda: x)()
            def f(self): return x
            class B: v = x
        print(A.y, A.z, A.w, A().f(), A.B.v)
        """,
    "class scope falls back to globals": """
        x = 1
        def f():
            x = 2
            class A:
                try: y = x
                except NameError as e: print(e)
                if y == 1: x = 3
                print(x)
                del x
            return A.y
        print(f())
        """,
    "closures keep variables, not values": """
        fs = [lambda: i for i in range(3)]
        gs = [lambda i=i: i for i in range(3)]
        print([f() for f in fs], [g() for g in gs])
        """,
})  # fmt: skip

test_raises = raises([
    ("SyntaxError", "x = 1\ndef f():\n  print(x)\n  global x"),
    ("SyntaxError", "def f(x):\n  global x"),
    ("SyntaxError", "def f():\n  nonlocal q"),
    ("SyntaxError", "nonlocal q"),
    ("SyntaxError", "def f():\n  x = 1\n  def g():\n    nonlocal x\n    global x"),
    ("NameError", "def f():\n  global nowhere\n  return nowhere\nf()"),
    ("NameError", "def f():\n  class A:\n    x = 1\n    def g(self): return x\n  return A().g()\nf()"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 2, 3, "def f():\n  global __builtins__"),
    ("BJ101", 2, 3, "class A:\n  global __init__"),
    ("BJ101", 4, 5, "def f():\n  x = 1\n  def g():\n    nonlocal __class__"),
])  # fmt: skip
