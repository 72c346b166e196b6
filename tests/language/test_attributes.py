"""Attributes: loads, stores and deletes, order of evaluation, what is not the program's own."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs, stopped

CONSTRUCTS = ("attribute",)

test_runs = runs({
    "every form of target": """
        class A: pass
        a = A()
        a.x, a._y, [*a.z] = 1, 2, (3, 4)
        a._p = a.q = []
        for a._i in range(3): pass
        for a.j, a._k in [(1, 2)]: pass
        class CM:
            def __enter__(self): return 'cm'
            def __exit__(self, *exc): pass
        with CM() as a.w, CM() as a._v: pass
        a.x += 1; a._y -= 1; a._t: int = 5; a.u: int = 6
        del a.z, a._p
        print(vars(a))
        """,
    "order of evaluation, each target once": """
        log = []
        def t(x, name): log.append(name); return x
        class A: pass
        a = A(); a._v = [1, 2, 3]; a.w = 1
        t(a, 'a')._v[t(0, 'b')] += t(5, 'c')
        t(a, 'd').w += t(1, 'e')
        t(a, 'f')._w = t(1, 'g')
        t(a, 'h')._w **= t(3, 'i')
        x, t(a, 'j')._q, *t(a, 'k').r = t([1, 2, 3, 4], 'l')
        for t(a, 'm')._i in t([1, 2], 'n'): pass
        t(a, 'o').x = t(a, 'p')._y = t(7, 'q')
        del t(a, 'r')._i, t(a, 's').r
        t(t(a, 't')._v, 'u')[t(1, 'v')], t(a, 'w').z = t(1, 'x'), t(2, 'y')
        print(log, vars(a))
        """,
    "descriptors are asked as often as in CPython": """
        log = []
        class D:
            def __set_name__(self, owner, name): self.name = name
            def __get__(self, instance, owner): log.append('get ' + self.name); return 1
            def __set__(self, instance, value): log.append(f'set {self.name} {value}')
            def __delete__(self, instance): log.append('del ' + self.name)
        class A:
            x = D(); _y = D(); __z = D()
            def go(self): self.__z += 1; return self._y
        a = A(); a.x += 1; a._y -= 1; a.x; a._y; del a.x, a._y; a.x: int; a.go()
        print(log)
        """,
    "__getattr__, __setattr__, __delattr__": """
        class A:
            def __getattr__(self, name): return name + '?'
            def __setattr__(self, name, value): print('set', name); super().__setattr__(name, value)
            def __delattr__(self, name): print('del', name); object.__delattr__(self, name)
        a = A(); a._x = 1; a.y = 2; del a._x; a.y += 1
        print(a._x, a.nope, a._A__q, vars(a), hasattr(a, 'anything'), getattr(a, '_g'))
        """,
    "properties": """
        class A:
            def __init__(self): self._t = 1
            @property
            def t(self): return self._t
            @t.setter
            def t(self, value): self._t = value * 2
            @t.deleter
            def t(self): del self._t
            @property
            def _hidden(self): return 'h'
        a = A(); a.t = 5; a.t += 1; print(a.t, a._hidden); del a.t
        print(hasattr(a, '_t'))
        """,
    "classes, functions and exceptions of one's own": """
        class A: _n = 0; m = 1
        class B(A): pass
        A._n += 1; B._n += 1; B.m = 5; A.k = 2
        def f(): f.count += 1; f._seen = True
        f.count = 0; f(); del f._seen
        class E(Exception): pass
        e = E(1); e._x = 1; e.y = 2; e._x += 1
        v = ValueError('v'); v.extra = 3
        print(A._n, B._n, A.m, B.m, B.k, vars(f), e._x, e.y, v.extra)
        """,
    "super": """
        class A:
            def _f(self): return 'A'
            @property
            def _p(self): return 'p'
            @classmethod
            def _c(cls): return cls.__name__
        class B(A):
            def _f(self): return super()._f() + 'B' + super()._p
            @classmethod
            def _c(cls): return super()._c() + '!'
        print(B()._f(), B._c())
        """,
    "slots": """
        class A:
            __slots__ = ('a', '_b')
        x = A(); x.a, x._b = 1, 2; x._b += 1; del x.a
        print(x._b, hasattr(x, 'a'))
        """,
    "long chains": "class A: pass\na = A(); a._n = a.n = a\nprint((a" + "._n.n" * 200 + ") is a)",
    "asking before storing": """
        for thing in (None, 5, 'text', [], {}, (), 1.5, object()):
            try: thing.x = 1
            except AttributeError as e: print(e)
            try: thing._x
            except AttributeError as e: print(e)
            try: del thing._x
            except AttributeError as e: print(e)
        """,
})  # fmt: skip

test_raises = raises([
    ("AttributeError", "None._x"),
    ("AttributeError", "None.x"),
    ("AttributeError", "None.x = 1"),
    ("AttributeError", "x = None\nx._y += 1"),
    ("AttributeError", "[]._x"),
    ("AttributeError", "(5).real_ += print('not evaluated')"),
    ("AttributeError", "class A: pass\nA()._x"),
    ("AttributeError", "class A: pass\nA._x"),
    ("AttributeError", "class A: pass\ndel A()._x"),
    ("AttributeError", "class A: pass\nA().x += 1"),
    ("AttributeError", "class A:\n  __slots__ = ('a',)\nA().b = 1"),
    ("AttributeError", "class A:\n  __slots__ = ('_a',)\nA()._a"),
    ("AttributeError", "class A:\n  @property\n  def x(self): return 1\nA().x = 2"),
    ("AttributeError", "def f(): pass\nf._x"),
    ("AttributeError", "def f(): pass\ndel f.b"),
    ("ZeroDivisionError", "class A: pass\nA()._x = 1 / 0"),
    ("NameError", "undefined._x = 1"),
])  # fmt: skip

test_refused = refused([
    ("BJ301", 1, 1, "f.__globals__"),
    ("BJ301", 2, 6, "x = 1\ny = [f.__code__][0]"),
    ("BJ301", 1, 1, "f().g[1].__getnewargs__()"),
    ("BJ303", 1, 7, "print((x for x in y).gi_frame)"),
    ("BJ303", 2, 11, "def f(e):\n  return (e.\n    tb_frame)"),
    ("BJ303", 1, 5, "del a.f_back"),
    ("BJ304", 1, 1, "a.__class__ = B"),
    ("BJ304", 1, 5, "del A.__bases__"),
    ("BJ304", 1, 4, "x, a.__mro__ = 1, 2"),
])  # fmt: skip

test_stopped = stopped([
    ("BJ302", "import random\nrandom.Random()._randbelow(3)"),
    ("BJ302", "import enum\nenum.Enum._member_map_"),
    ("BJ305", "import fractions\nfractions.Fraction.x = 1"),
    ("BJ305", "import fractions\ndel fractions.Fraction.limit_denominator"),
    ("BJ305", "import random\nrandom.Random().x = 1"),
    ("BJ305", "import textwrap\ntextwrap.dedent.x = 1"),
    ("BJ301", "import decimal\ndecimal.Decimal.__dict__"),
])  # fmt: skip
