"""f-strings, nested ones, `=`, conversions; t-strings where this Python has them."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

import sys

from tests.language.cases import raises, refused, runs
from tests.policy.harness import assert_identical, run

CONSTRUCTS = ("f-string", "t-string")

test_runs = runs({
    "conversions and specs": """
        x, n = 3.14159, 8
        print(f'{x!r:>{n}}|{x:{n}.{2}f}|{"a":*^{n - 3}}|{n:#x}|{n!s}|{"é"!a}|{{}}|{{{n}}}')
        """,
    "self-documenting": """
        class A:
            _p = 1
            def __repr__(self): return 'A'
        a, xs = A(), [1]
        print(f'{a._p=}', f'{a._p = :>4}', f'{xs[0]+1=}', f'{a=!s}', f'{ a = }', f'{xs=!r:>5}')
        """,
    "nested": """
        x = 'v'
        print(f'{f"{x}"!r}', f"{f'{x:>{3}}'}")
        print(f'{[f"{i}" for i in range(3)]}', f'{(lambda y: y * 2)(3)}', f'''{
            x
        }''')
        """,
    "order of evaluation": """
        log = []
        class F:
            def __init__(self, n): self.n = n
            def __format__(self, spec): log.append(('format', self.n, spec)); return str(self.n)
            def __repr__(self): log.append(('repr', self.n)); return 'r'
        def t(n): log.append(n); return F(n)
        print(f'{t(1)}{t(2):{t(3)}}{t(4)!r}', log)
        """,
    "hooks inside": """
        class A:
            def __init__(self): self._w, self.__v = 6, 'x'
            def show(self): return f'{self.__v:>{self._w}}|{self._w=}'
        print(A().show())
        """,
    "walrus, yield and conditions": """
        print(f'{(n := 5)} {n}', f'{1 if n else 2}', f'{n:=+5}', f'{n!r}')
        def g():
            x = f'{(yield 1)}'
            yield x
        i = g(); next(i); print(i.send('sent'))
        """,
    "joined with text": "print('a' f'{1}' 'b' rf'\\d{2}' f'' '')",
    "bytes and percent stay": "print('%s %(a)s' % {'a': 1} if 0 else '%d%%' % 3, b'%d' % 4)",
})  # fmt: skip

test_raises = raises([
    ("NameError", "f'{undefined}'"),
    ("AttributeError", "x = 1\nf'{x.nope}'"),
    ("ValueError", "f'{1:q}'"),
    ("TypeError", "f'{[]:>5}'"),
    ("SyntaxError", "f'{}'"),
    ("SyntaxError", "f'{a b}'"),
    ("SyntaxError", "f'{1!x}'"),
])  # fmt: skip

test_refused = refused([
    ("BJ301", 1, 4, "f'{f.__globals__}'"),
    ("BJ102", 2, 4, "x = 1\nf'{__builtins__}'"),
])  # fmt: skip


def test_a_nested_spec_is_judged_too() -> None:
    assert run("f'{1:>{g.gi_frame}}'").rules == ["BJ303"]
    assert run("f'{f\"{x.__globals__}\"}'").rules == ["BJ301"]


def test_t_strings() -> None:
    ran = assert_identical("x = 1\nt = t'{x!r:>3} {x + 1}'\nprint(t.strings, t.values)")
    if sys.version_info < (3, 14):
        assert ran.error == "SyntaxError"
    else:
        assert run("t'{f.__globals__}'").rules == ["BJ301"]
