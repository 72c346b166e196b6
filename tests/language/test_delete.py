"""del, of every kind of target."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("delete",)

test_runs = runs({
    "targets": """
        class A: x = 1
        a = A(); a.p = a._q = 1; l = [0, 1, 2, 3]; d = {'k': {'j': 1}}
        n = m = o = 1
        del n, (m, [o]), a.p, a._q, l[0], l[:1], d['k']['j'], A.x
        del ()
        del (l[0])
        print(vars(a), l, d, hasattr(A, 'x'), 'n' in dir(), 'o' in dir())
        """,
    "order": """
        log = []
        def t(x, n): log.append(n); return x
        class A:
            def __delattr__(self, name): log.append(name)
            def __delitem__(self, key): log.append(key)
        a = A()
        del t(a, 1).x, t(a, 2)[t('k', 3)], t(a, 4)._y, t(a, 5)[1:2]
        print(log)
        """,
    "in scopes": """
        g = 1
        def f():
            global g
            del g
            x = 1
            del x
            try: x
            except UnboundLocalError as e: print(e)
            y = 1
            def inner():
                nonlocal y
                del y
            inner()
            try: y
            except NameError as e: print(e)
        f()
        class A:
            z = 1
            del z
        print('g' in dir(), hasattr(A, 'z'))
        """,
})  # fmt: skip

test_raises = raises([
    ("NameError", "del undefined"),
    ("NameError", "x = 1\ndel x, x"),
    ("UnboundLocalError", "def f():\n  del x\n  x = 1\nf()"),
    ("KeyError", "del {}['a']"),
    ("IndexError", "del [][0]"),
    ("AttributeError", "class A: pass\ndel A().x"),
    ("AttributeError", "class A: x = 1\ndel A().x"),
    ("TypeError", "del (1, 2)[0]"),
    ("SyntaxError", "del f()"),
    ("SyntaxError", "del (a := 1)"),
    ("SyntaxError", "del a + b"),
    ("SyntaxError", "del *a, b"),
    ("SyntaxError", "del None"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 1, 9, "del a, (__builtins__)"),
    ("BJ304", 1, 5, "del x.__class__"),
    ("BJ301", 1, 5, "del f.__globals__['x']"),
])  # fmt: skip
