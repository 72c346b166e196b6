"""Arithmetic, bitwise, boolean and comparing operators, conditional expressions."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

import sys

from tests.language.cases import raises, runs

CONSTRUCTS = ("arithmetic", "boolean-operator", "comparison", "conditional-expression")

LOGGING = """
    log = []
    class N:
        def __init__(self, n): self.n = n
        def __bool__(self): log.append(('bool', self.n)); return bool(self.n)
        def __repr__(self): return f'N{self.n}'
        def __lt__(self, o): log.append((self.n, '<', o.n)); return N(self.n < o.n)
        def __eq__(self, o): log.append((self.n, '==', o.n)); return self.n == o.n
        def __contains__(self, o): log.append((o.n, 'in', self.n)); return N(1)
        def __add__(self, o): log.append((self.n, '+')); return NotImplemented
        def __radd__(self, o): log.append(('radd', self.n)); return N(-1)
        def __matmul__(self, o): return f'{self}@{o}'
        def __neg__(self): return N(-self.n)
        def __iadd__(self, o): log.append('iadd'); return self
    def t(n): log.append(n); return N(n)
"""

test_runs = runs({
    "arithmetic": "print(7 // -2, 7 % -4, -7 // 2, 2 ** -1, 2 ** 3 ** 2, -2 ** 2, 7 / 2, 1 - 2 - 3)",
    "bits": "print(1 << 10 >> 3, 6 & 3 | 8 ^ 1, ~5, ~-1, +True, -True, 5 & -2)",
    "containers": "print([1] * 2 + [3], 'ab' * 2, {1} | {2}, {1, 2} - {2}, {'a': 1} | {'b': 2}, '%d' % 3)",
    "boolean values are passed on": "print(0 or '' or [], 1 and 'a' and None, not 1, not not [], 0 or 5)",
    "chained": "x = 5\nprint(1 < x < 10 == 10 != 3, 1 < 2 > 1, 3 in [3] == True, not x in [1], x is not None)",
    "short circuit and order": LOGGING + """
    t(1) and t(0) and t(2)
    t(0) or t(3) or t(4)
    t(1) < t(2) < t(3)
    t(2) < t(1) < t(9)
    try: t(1) + t(2)
    except TypeError as e: print(e)
    t(5) if t(0) else t(6)
    t(1) in t(2), t(1) not in t(2)
    not t(1) == t(1)
    print(t(1) @ -t(2), log)
    """,
    # A tree may be no deeper than about 1,500 in 3.12.1, where text may.
    "long chains": "print(" + "+".join(["1"] * (1200 if sys.version_info[:2] == (3, 12) else 2000)) + ", " + " and ".join(["1"] * 500) + ")",
    "conditional": "print([('a' if i > 1 else 'b' if i else 'c') for i in range(3)], (lambda: 1 if 0 else 2)())",
})  # fmt: skip

test_raises = raises([
    ("ZeroDivisionError", "1 / 0"),
    ("ZeroDivisionError", "x = 1\nx % 0"),
    ("TypeError", "'a' + 1"),
    ("TypeError", "1 < 'a'"),
    ("TypeError", "1 in 2"),
    ("TypeError", "-'a'"),
    ("TypeError", "[] @ []"),
    ("TypeError", "class A: pass\nA() + A()"),
    ("OverflowError", "2.0 ** 10000"),
    ("ValueError", "1 << -1"),
    ("TypeError", "class A:\n  def __bool__(self): return 5\nnot A()"),
])  # fmt: skip
