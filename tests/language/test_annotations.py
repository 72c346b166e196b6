"""Annotations: evaluated where CPython evaluates them, and kept as it keeps them."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

import sys

from tests.language.cases import raises, refused, runs
from tests.policy.harness import assert_runs, run_plain

CONSTRUCTS = ("annotated-assignment", "annotation", "future-import")

test_runs = runs({
    "modules and classes keep them": """
        a: int
        b: print('annotation of b') = print('value of b')
        (c): int = 3
        class A:
            x: int = 1
            y: 'no such name'
            (z): float = 2
            __m: int
            w: print('in class')
        print(A.__annotations__, c, A.x)
        """,
    "functions evaluate none of their own": """
        def f():
            x: undefined = 1
            y: undefined._private
            z: eval
            return x
        print(f())
        """,
    "a local is a local though only annotated": """
        x = 1
        def f():
            x: int
            try: return x
            except UnboundLocalError as e: return str(e)
        print(f())
        """,
    "targets that are no names": """
        log = []
        def t(x): log.append(x); return x
        class A: pass
        a = A()
        t(a).x: t('annotation') = t('value')
        t(a).never: t('another')
        t(a)._never: t('private')
        t([0])[t(0)]: t('item')
        five = 5
        five.x: int
        five._y: int
        five[0]: int
        def f():
            t(a).x: t('not evaluated') = t('local')
            t(a)._n: t('not evaluated')
        f()
        print([x for x in log if isinstance(x, (str, int))], vars(a))
        """,
    "signatures": """
        def f(p: print('p'), /, *q: print('q'), r: print('r') = print('default'),
              **s: print('s')) -> print('returns'): pass
        def g(a: int, _b: 'text', __c: None = 1) -> list[int]: pass
        async def h(x: 1) -> 2: pass
        print(g.__annotations__, h.__annotations__, (lambda a: a).__annotations__)
        """,
    "private names and hooks": """
        class A:
            _T = int
            x: '_T'
            def f(self, a: _T, b: (lambda: 1)) -> _T: pass
        class B:
            n: A._T = 1
            def g(self, q: A._T): pass
        print(A.f.__annotations__['a'], B.__annotations__, B.g.__annotations__)
        """,
    "future: text, as it stands in the source": """
        from __future__ import annotations
        class A:
            x: self._t.__y[0] = 1
            y: undefined(1, *a, k=2) | None
            def f(self, a: b._c, *d: e.__f__, g: (lambda _q: _q._z), **h: open) -> i._j[k]: pass
        z: eval('1') = 3
        def f(x: A._p = 1) -> "quoted": return x
        print(A.__annotations__, A.f.__annotations__, f.__annotations__)
        """,
    "future: dataclasses": """
        from __future__ import annotations
        from dataclasses import dataclass, field, fields
        from typing import ClassVar
        @dataclass
        class Node:
            value: int
            _hidden: list[Node] = field(default_factory=list)
            count: ClassVar[int] = 0
            next: Node | None = None
        print(Node(1, next=Node(2)), [(f.name, f.type) for f in fields(Node)])
        """,
    "other futures": """
        '''doc'''
        from __future__ import division, generator_stop
        from __future__ import print_function as p
        print(1 / 2, __doc__, p.getOptionalRelease())
        """,
})  # fmt: skip

# Evaluated when they are read, since Python 3.14, and before that where they stand.
_EAGER = [("NameError", "x: undefined = 1"), ("AttributeError", "x: (5)._nope = 1")]
test_raises = raises([
    *(_EAGER if sys.version_info < (3, 14) else ()),
    ("NameError", "class A:\n  x: undefined\nA.__annotations__"),
    ("NameError", "def f(x: undefined): pass\nf.__annotations__"),
    ("NameError", "def f() -> undefined: pass\nf.__annotations__"),
    ("AttributeError", "class A:\n  x: (5)._nope = 1\nA.__annotations__"),
    ("SyntaxError", "x = 1\nfrom __future__ import annotations"),
    ("SyntaxError", "from __future__ import no_such_feature"),
    ("SyntaxError", "from __future__ import braces"),
    ("SyntaxError", "from __future__ import annotations\ndef f(x: (y := 1)): pass"),
    ("SyntaxError", "a, b: int = 1, 2"),
    ("SyntaxError", "def f():\n  global x\n  x: int = 1"),
])  # fmt: skip

test_refused = refused([
    ("BJ102", 1, 4, "x: __builtins__ = 1"),
    ("BJ301", 1, 10, "def f(x: a.__globals__): pass"),
    ("BJ501", 1, 12, "def f() -> open: pass"),
    ("BJ101", 1, 1, "__builtins__: int"),
    ("BJ304", 1, 1, "x.__class__: int = 1"),
    ("BJ101", 2, 7, "from __future__ import annotations\ndef f(__import__: int): pass"),
    ("BJ102", 2, 10, "from __future__ import annotations\nx: int = __builtins__"),
])  # fmt: skip


def test_text_is_evaluated_by_nobody() -> None:
    source = """
        from __future__ import annotations
        import typing, dataclasses, functools
        @dataclasses.dataclass
        class A:
            x: print('evaluated')
        @functools.singledispatch
        def f(x): return 'general'
        class N(typing.NamedTuple):
            a: print('evaluated')
        def g(x: print('evaluated')): pass
        try: f.register(g)
        except TypeError: pass
        print(A.__annotations__, A(1), N(2))
        """
    assert "evaluated\n" in run_plain(source).stdout
    assert "evaluated\n" not in assert_runs(source).stdout
