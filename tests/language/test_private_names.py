"""`__x` in a class: mangled by CPython, also where a hook stands around the target."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, runs

CONSTRUCTS = ("private-name",)

test_runs = runs({
    "attributes": """
        class A:
            def __init__(self): self.__x = 1
            def up(self):
                self.__x += 1
                a, self.__y = 5, self.__x
                del self.__x
                return vars(self)
        a = A(); print(a._A__x, a.up(), a._A__y)
        """,
    "class attributes and methods": """
        class A:
            __count = 0
            def __hidden(self): return 'hidden'
            @classmethod
            def tick(cls):
                cls.__count += 1
                A.__count += 10
                return A.__count, cls._A__count
            def call(self): return self.__hidden()
        print(A.tick(), A().call(), A._A__count, A()._A__hidden())
        """,
    "nested classes use their own name": """
        class A:
            __x = 'A'
            class B:
                __x = 'B'
                def f(self): return self.__x, A.B.__x, A._A__x
            def f(self): return self.__x, A._A__x
        print(A.B().f(), A().f(), A.B._B__x)
        """,
    "a subclass has its own": """
        class A:
            def __init__(self): self.__v = 'A'
            def a(self): return self.__v
        class B(A):
            def __init__(self): super().__init__(); self.__v = 'B'
            def b(self): return self.__v, self._A__v
        b = B(); print(b.a(), b.b(), vars(b))
        """,
    "leading underscores of the class go": """
        class _A:
            __x = 1
            def f(self): return self.__x, _A.__x
        class __B:
            __x = 2
            def f(self): return self.__x
        print(_A().f(), _A._A__x, __B().f(), __B._B__x)
        """,
    "a class of underscores mangles nothing": """
        class __:
            __x = 1
            def f(self): return self.__x
        print(__().f(), __.__x)
        """,
    "every other binding": """
        class A:
            def __init__(self, __v=1, *__w, __k=2): self.v = __v, __w, __k
            def local(self):
                __n = 2
                def up(): nonlocal __n; __n += 1; return __n
                return up()
            import math as __m
            from math import floor as __f
            for __i in range(2): pass
            try: 1 / 0
            except ZeroDivisionError as __e: print(__e)
            def g(self):
                global __g
                __g = self.__m.ceil(1.5)
            def kw(self, **k): return k
            def call(self): return self.kw(__k=1)
            l = lambda __q: __q
            c = [__j for __j in range(2)]
            (lambda: (__w := 3))
        a = A(0, 1, _A__k=5); a.g()
        print(a.v, a.local(), _A__g, A._A__i, A._A__f(2.5), a.call(), A.l(4), A.c)
        """,
    "slots": """
        class A:
            __slots__ = ('__x', '_y')
            def __init__(self): self.__x, self._y = 1, 2
            def get(self): return self.__x, self._y
        a = A(); print(a.get(), a._A__x, A.__slots__)
        """,
    "outside of classes nothing is mangled": """
        class A: pass
        a = A(); a.__x = 1
        def f(o): o.__y = 2; return o.__x
        print(f(a), vars(a))
        """,
    "annotations": """
        class A:
            __x: int = 1
            def f(self, __p: 'q') -> 'r': pass
        print(A.__annotations__, A.f.__annotations__)
        """,
    "match": """
        class A:
            __LIMIT = 3
            def f(self, x):
                match x:
                    case self.__LIMIT: return 'limit'
                    case [__first, *__rest]: return __first, __rest
        print(A().f(3), A().f([1, 2]))
        """,
})  # fmt: skip

test_raises = raises([
    ("AttributeError", "class A:\n  def f(self): return self.__x\nA().f()"),
    ("AttributeError", "class A:\n  __x = 1\nA().__x"),
    ("AttributeError", "class A:\n  def f(self): del self.__x\nA().f()"),
    ("AttributeError", "class A:\n  def f(self): return None.__x\nA().f()"),
])  # fmt: skip
