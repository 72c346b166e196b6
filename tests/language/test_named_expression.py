"""The walrus: where the name goes."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("named-expression",)

test_runs = runs({
    "in conditions": "if (n := 10) > 5 and (m := n + 1): print(n, m)\nwhile (n := n - 3) > 0: print(n)",
    "out of a comprehension": """
        def f():
            l = [last := i for i in range(3)]
            any((hit := i) > 1 for i in range(4))
            [[(deep := j) for j in range(i)] for i in range(3)]
            return l, last, hit, deep
        print(f(), [y := 1, y + 1], y)
        """,
    "to global and nonlocal": """
        def f():
            global g
            n = 0
            def inner():
                nonlocal n
                [n := i for i in range(5)]
            inner()
            [g := i for i in range(3)]
            return n
        print(f(), g)
        """,
    "in a lambda it is local": "x = 1\nf = lambda: (x := 2)\nprint(f(), x)",
    "in arguments and subscripts": "print(max(a := 3, (b := 4)), [1, 2, 3][i := 1], i, a, b, f'{(c := 5)}', c)",
    "in defaults and decorators": """
        def f(a=(d := 3)): return a
        @(w := lambda g: g)
        def h(): return 'h'
        print(f(), d, w(1), h())
        """,
})  # fmt: skip

test_raises = raises([
    ("SyntaxError", "class A:\n  [(y := 1) for i in range(1)]"),
    ("SyntaxError", "[i := 0 for i in range(3)]"),
    ("SyntaxError", "x := 1"),
    ("SyntaxError", "(a.b := 1)"),
    ("SyntaxError", "[x for x in (y := [1])]"),
    ("UnboundLocalError", "def f():\n  print(x, (x := 1))\nf()"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 1, 2, "(__builtins__ := 1)"),
    ("BJ101", 1, 3, "[(__import__ := i) for i in []]"),
])  # fmt: skip
