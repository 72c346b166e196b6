"""class: bodies, bases, keywords, metaclasses; special methods."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

import sys

from tests.language.cases import raises, refused, runs, stopped

CONSTRUCTS = ("class", "special-method")

test_runs = runs({
    "the body runs in order, in a namespace of its own": """
        class A:
            'The doc.'
            print(__module__, __qualname__)
            x = 1
            y = x + 1
            for i in range(2): print(i)
            if x: z = [x]
            def f(self): return self.x, A.y
            class B: w = 'inner'
            x = 'last'
            del y
        print(A.__doc__, A.x, A.z, A.B.w, A.B.__qualname__, A.i, hasattr(A, 'y'), A.__name__)
        """,
    "order: decorators, bases, keywords, body": """
        log = []
        def t(x, n): log.append(n); return x
        class M(type):
            def __new__(meta, name, bases, names, **k): log.append('new'); return super().__new__(meta, name, bases, names)
            def __init__(cls, name, bases, names, **k): log.append('init'); super().__init__(name, bases, names)
        def deco(c): log.append('deco'); return c
        @t(deco, 'd')
        class A(t(object, 'b'), metaclass=t(M, 'm'), flag=t(1, 'k')):
            log.append('body')
        class B(*t((A,), 'star'), **t({'flag': 2}, 'named')): pass
        print(log, type(B).__name__)
        """,
    "subclasses of the program's own": """
        class Base:
            def name(self): return type(self).__name__
        class A(Base): pass
        class B(Base): pass
        class C(B): pass
        print([cls().name() for cls in Base.__subclasses__()], C.__subclasses__())
        print({cls.__name__: cls for cls in B.__subclasses__()}["C"] is C)
        """,
    "inheritance and super": """
        class A:
            def f(self): return ['A']
        class B(A):
            def f(self): return ['B'] + super().f()
        class C(A):
            def f(self): return ['C'] + super().f()
        class D(B, C):
            def f(self): return ['D'] + super(D, self).f() + [__class__.__name__]
            @classmethod
            def g(cls): return super().__name__ if hasattr(super(), '__name__') else cls.__name__
        print(D().f(), [c.__name__ for c in D.__mro__], D.__bases__, D.g(), issubclass(D, A))
        """,
    "a metaclass": """
        class Meta(type):
            def __call__(cls, *args):
                made = super().__call__(*args)
                made._by = cls.__name__
                return made
            def __len__(cls): return 5
            def __getitem__(cls, k): return k
            def __iter__(cls): return iter('ab')
            @property
            def p(cls): return 'p of ' + cls.__name__
        class A(metaclass=Meta):
            def __init__(self, x): self._x = x
        a = A(4)
        print(a._x, a._by, len(A), A['k'], list(A), A.p, type(A).__name__)
        """,
    "__init_subclass__, __set_name__, __class_getitem__": """
        class A:
            subs = []
            def __init_subclass__(cls, /, tag=None, **k): cls.subs.append((cls.__name__, tag)); super().__init_subclass__(**k)
            def __class_getitem__(cls, item): return f'{cls.__name__}[{item}]'
        class D:
            def __set_name__(self, owner, name): print(owner.__name__, name)
        class B(A, tag='t'): d = D()
        class C(B): _e = D()
        print(A.subs, B[int], C['x'])
        """,
    "special methods": """
        class V:
            def __init__(self, *xs): self.xs = xs
            def __repr__(self): return f'V{self.xs}'
            def __eq__(self, o): return isinstance(o, V) and self.xs == o.xs
            def __hash__(self): return hash(self.xs)
            def __lt__(self, o): return self.xs < o.xs
            def __add__(self, o): return V(*(a + b for a, b in zip(self.xs, o.xs)))
            def __rmul__(self, k): return V(*(k * x for x in self.xs))
            def __iadd__(self, o): return self + o
            def __neg__(self): return -1 * self
            def __abs__(self): return sum(self.xs)
            def __bool__(self): return any(self.xs)
            def __len__(self): return len(self.xs)
            def __getitem__(self, i): return self.xs[i]
            def __iter__(self): return iter(self.xs)
            def __contains__(self, x): return x in self.xs
            def __call__(self, k): return k * self
            def __format__(self, spec): return '/'.join(format(x, spec) for x in self.xs)
            def __index__(self): return 2
            def __int__(self): return 7
            def __round__(self, n=None): return 'rounded'
            def __enter__(self): return self
            def __exit__(self, *e): return True
            def __reversed__(self): return reversed(self.xs)
            def __matmul__(self, o): return '@'
            def __getattr__(self, n): return n.upper()
        a, b = V(1, 2), V(3, 4)
        a += b
        print(a, 2 * a, -a, abs(a), bool(V(0)), len(a), a[0], list(a), 4 in a, a(3), f'{a:>3}', a.nope)
        print(a == V(4, 6), a != b, a < V(5), {V(1): 'x'}[V(1)], [10, 20, 30][V()], int(a), round(a), a @ b)
        with a: raise ValueError
        print(sorted([V(2), V(1)]), list(reversed(a)), hash(V(1)) == hash(V(1)))
        """,
    "slots, properties, class and static methods": """
        class A:
            __slots__ = ('x', '_y', '__dict__')
            def __init__(self): self.x, self._y, self.z = 1, 2, 3
            @property
            def y(self): return self._y
            @classmethod
            def make(cls): return cls()
            @staticmethod
            def s(a): return a
        a = A.make(); print(a.x, a.y, vars(a), A.s(3))
        """,
    "type() with three arguments": """
        A = type('A', (), {'x': 1, 'f': lambda self: self.x})
        B = type('B', (A,), {'_p': 2})
        print(A().f(), B()._p, B.__name__, B.__mro__[1].__name__)
        """,
    "classes in functions, comprehensions and loops": """
        def make(n):
            class C:
                v = n
                def get(self): return n, self.v
            return C
        print([make(i)().get() for i in range(2)], make(1).__qualname__)
        cs = [type(f'C{i}', (), {'i': i}) for i in range(2)]
        print([c.i for c in cs])
        """,
    "hooks in a body": """
        class A:
            class _H: _v = 3
            x = _H._v
            _H._v += 1
            y = [_H] and _H._v
            z = (lambda h: h._v)(_H)
            _H.w = [_H._v for _ in '1'] if False else 'w'
            def f(self, h=_H._v): return h
        print(A.x, A.y, A.z, A._H.w, A().f())
        """,
    "dataclass, enum, namedtuple, abstract, protocol, generic": """
        import abc, dataclasses, enum, typing, collections
        @dataclasses.dataclass(order=True)
        class P:
            x: int
            _y: int = dataclasses.field(default=2, repr=False)
        class E(enum.Enum):
            A = 1
            B = enum.auto()
            def up(self): return self.name * 2
        class N(typing.NamedTuple):
            a: int
            b: str = 'b'
        class S(abc.ABC):
            @abc.abstractmethod
            def area(self): ...
        class Q(S):
            def area(self): return 4
        T = typing.TypeVar('T')
        class G(typing.Generic[T]):
            def __init__(self, v: T): self._v = v
        R = collections.namedtuple('R', 'a b')
        print(P(1) < P(2), P(1)._y, E.B.up(), E(1), N(1), Q().area(), G[int](5)._v, R(1, 2)._asdict())
        try: S()
        except TypeError as e: print(e)
        """,
})  # fmt: skip

test_namespaces = runs({
    "slots stay what they were given as": """
        class A: __slots__ = ['a', '_b']
        class B(A): __slots__ = ('c',)
        class C(A): __slots__ = {'d': 'its documentation'}
        class D(A): __slots__ = 'e'
        class E(A): __slots__ = iter(['f'])
        print(A.__slots__, B.__slots__, C.__slots__, D.__slots__, C.d.__doc__)
        given = ['x']
        class F: __slots__ = given
        given.append('y')
        print([n for n in dir(F) if n[0] != '_'], [n for n in dir(E) if n[0] != '_'])
        A.__slots__.append('z')
        a = A(); a.a = 1
        try: a.z = 1
        except AttributeError as e: print(e)
        """,
    "a class's own namespace": """
        class Field:
            def __set_name__(self, owner, name):
                print(name, [n for n in owner.__dict__ if n[0] != '_'])
        class A:
            'doc'
            x = 1
            _y = 2
            __z = 3
            f = Field()
            def m(self): return self
            @property
            def p(self): return 4
            @staticmethod
            def s(): return 5
            @classmethod
            def c(cls): return cls
            def __init_subclass__(cls): print(sorted(n for n in vars(cls) if n[:2] != '__'))
            def __setattr__(self, n, v): super().__setattr__(n, v)
            __slots__ = ('one', '_two', '__dict__')
            __match_args__ = ('one',)
        class B(A): k = A.x
        shown = {n: v for n, v in vars(A).items() if n not in ('__dict__', '__weakref__')}
        shown.pop('__static_attributes__', None)
        print(list(shown))
        print([type(v).__name__ for v in shown.values()])
        print(A.__dict__['x'], A.__dict__.get('nope'), '_A__z' in A.__dict__, 'x' in B.__dict__, vars(B)['k'])
        print(A.__dict__['p'].fget(None), A.__dict__['m'](7), A.__dict__['__doc__'], A.__dict__['__slots__'])
        A.__dict__['__setattr__'](a := A(), 'one', 5)
        print(a.one, type(A.__dict__).__name__, len(vars(B)) <= len(A.__dict__))
        try: A.__dict__['x'] = 2
        except TypeError as e: print(e)
        try: del vars(A)['x']
        except TypeError as e: print(e)
        """,
    "names that are given later": """
        def renamed(name):
            def decorate(cls):
                cls.__name__ = name
                cls.__qualname__ = f'made.{name}'
                cls.__doc__ = 'renamed'
                return cls
            return decorate
        @renamed('Other')
        class A: pass
        print(A, A.__name__, A.__qualname__, A.__doc__, type(A()).__name__)
        for bad in (1, None):
            try: A.__name__ = bad
            except (TypeError, AttributeError): print('refused')
        try: int.__name__ = 'x'
        except (TypeError, AttributeError): print('refused')
        """,
    "the function of a method": """
        class A:
            @classmethod
            def c(cls): return cls.__name__
            @staticmethod
            def s(x): return x
        def bare(method):
            return method.__func__ if isinstance(method, (classmethod, staticmethod)) else method
        print(bare(A.__dict__['c'])(int), bare(vars(A)['s'])(2), bare(A.s)(3), A.c.__func__(str))
        print(vars(A)['c'].__wrapped__.__name__, A.__dict__['s'].__func__ is A.s)
        """,
    "what walks over classes": """
        import dataclasses, enum, typing, abc
        class Base(abc.ABC):
            @abc.abstractmethod
            def go(self): ...
            @classmethod
            def api(cls):
                return sorted(n for c in cls.__mro__[:-2] for n, v in vars(c).items()
                              if callable(v) and not n.startswith('_'))
        class One(Base):
            def go(self): return 1
            def more(self): return 2
        @dataclasses.dataclass(frozen=True, order=True)
        class P: x: int; y: int = 0
        class N(typing.NamedTuple): a: int; b: int = 2
        class E(enum.Enum): A = 1; B = 2
        print(One.api(), 'x' in vars(P), vars(P)['y'], [n for n in vars(N) if n[0] != '_'])
        print([n for n in E.__dict__ if n in ('A', 'B')], E.__dict__['_member_names_'])
        class M(type):
            def __new__(m, name, bases, ns):
                made = super().__new__(m, name, bases, ns)
                made.fields = [k for k, v in made.__dict__.items() if isinstance(v, int)]
                return made
        class R(metaclass=M): a = 1; b = 'x'; c = 3
        print(R.fields, 'm' in M.__dict__, '__new__' in M.__dict__)
        """,
})  # fmt: skip

test_raises = raises([
    ("NameError", "class A(Undefined): pass"),
    ("TypeError", "class A(5): pass"),
    ("TypeError", "class A(int, str): pass"),
    ("TypeError", "class A(bool): pass"),
    ("TypeError", "class A: pass\nclass B(A, A): pass"),
    ("TypeError", "class A: pass\nclass B(A): pass\nclass C(A, B): pass"),
    ("TypeError", "class A(bad=1): pass"),
    ("TypeError", "class M(type): pass\nclass N(type): pass\nclass A(metaclass=M): pass\nclass B(A, metaclass=N): pass"),
    ("ZeroDivisionError", "class A:\n  x = 1\n  y = 1 / 0"),
    ("TypeError", "class A:\n  def __init__(self, x): pass\nA()"),
    ("TypeError", "class A: pass\nA(1)"),
    ("TypeError", "class A:\n  def __len__(self): return -1.5\nlen(A())"),
    ("TypeError", "class A:\n  __hash__ = None\n{A(): 1}"),
    ("RuntimeError", "class A:\n  def f(): super().g\nA.f()"),
    # Python 3.12 raises what __set_name__ raised, with a note, where 3.11 raises a RuntimeError.
    (
        "ZeroDivisionError" if sys.version_info >= (3, 12) else "RuntimeError",
        "class D:\n  def __set_name__(self, o, n): 1 / 0\nclass A: d = D()",
    ),
    ("SyntaxError", "class A(: pass"),
    ("SyntaxError", "class A: return"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 1, 1, "class __builtins__: pass"),
    ("BJ101", 1, 9, "class A(__class__=1): pass"),
    ("BJ403", 2, 3, "class A:\n  def __getattribute__(self, n): pass"),
    ("BJ403", 2, 3, "class A:\n  __getattribute__ = f"),
    ("BJ403", 3, 3, "class A:\n  x = 1\n  __dict__: dict = {}"),
    ("BJ403", 2, 9, "class A:\n  class __prepare__: pass".replace("  class", "        class")),
    ("BJ403", 2, 3, "class A:\n  __mystery__ = 1"),
    ("BJ403", 3, 5, "class A:\n  if x:\n    __module__ = 'builtins'"),
    ("BJ301", 1, 9, "class A(f.__globals__): pass"),
])  # fmt: skip

test_stopped = stopped([
    ("BJ403", "type('A', (), {'__getattribute__': lambda self, n: None})"),
    ("BJ403", "class M(type):\n  def __getattr__(cls, name): return 1"),
    ("BJ403", "class A:\n  __slots__ = ('__class__',)"),
    ("BJ404", "import contextlib\nclass A(contextlib.redirect_stdout): pass"),
    ("BJ404", "import dataclasses\nclass A(type(dataclasses.field())): pass"),
])  # fmt: skip
