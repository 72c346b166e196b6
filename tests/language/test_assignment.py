"""Assignments: chains, unpacking, stars."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, runs

CONSTRUCTS = ("assignment",)

test_runs = runs({
    "chains go from left to right": """
        log = []
        class A:
            def __setattr__(self, name, value): log.append((name, value))
            def __setitem__(self, key, value): log.append((key, value))
        a = A()
        a.x = a['k'] = a._y = x = 5
        a.x, (a._y, a[0]) = y = (log.append('value') or 1), (2, 3)
        print(log, x)
        """,
    "unpacking": """
        a, b = 1, 2
        a, b = b, a
        (c, d), [e, *f] = (3, 4), 'xyz'
        *g, h = range(4)
        i, *j, k = 'ab'
        [l], (m,) = [5], {6: 0}
        () = []
        [] = ()
        *n, = 'no'
        print(a, b, c, d, e, f, g, h, i, j, k, l, m, n)
        """,
    "any iterable": """
        class I:
            def __iter__(self): print('iter'); yield 1; print('two'); yield 2; print('end')
        a, b = I()
        a, *b = I()
        class G:
            def __getitem__(self, i): return [7, 8, 9][i]
        x, *y = G()
        print(a, b, x, y)
        """,
    "targets see earlier ones": "i, d = 0, [0, 0]\ni, d[i] = 1, 5\ni = d[i] = 0\nprint(i, d)",
    "the same object": "a = b = []\na.append(1)\nprint(b, a is b)",
    "conditional and parenthesised": "(x) = 1; (y), = [2]; z = (3 if x else 4), y\nprint(x, y, z)",
})  # fmt: skip

test_raises = raises([
    ("ValueError", "a, b = 1, 2, 3"),
    ("ValueError", "a, b = 'x'"),
    ("ValueError", "a, *b, c = 1,"),
    ("TypeError", "a, b = 1"),
    ("TypeError", "class A: pass\na, b = A()"),
    ("ZeroDivisionError", "a, b = (1 / i for i in (1, 0))"),
    ("SyntaxError", "a, *b, *c = 1"),
    ("SyntaxError", "*a = 1"),
    ("SyntaxError", "1 = x"),
    ("SyntaxError", "a + b = 1"),
    ("SyntaxError", "f'{x}' = 1"),
])  # fmt: skip
