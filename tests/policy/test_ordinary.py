"""Ordinary Python is ordinary: each program prints what plain CPython prints."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

import pytest

from tests.policy.harness import assert_runs, assert_same, run, run_plain

PROGRAMS = {
    "augmented assignment": """
        class C: pass
        c, d, l = C(), {'a': 1}, [1, 2]
        x = 1; x += 2; c.n = 1; c.n *= 5; d['a'] -= 4; l[0] <<= 3; l[-1:] += [7]
        c._p = 1; c._p += 1
        print(x, c.n, d, l, c._p)
        """,
    "evaluation order and counts": """
        log = []
        def f(x):
            log.append(x)
            return x
        class C: pass
        c = C(); c.a = 1; c.b = [0, 0]; c._z = 3
        f(c).a += f(2)
        f(c).b[f(1)] += f(3)
        f(c)._z = f(5)
        f(c).a, f(c)._z = f((6, 7))
        del f(c)._z
        print([x if not isinstance(x, C) else 'c' for x in log], c.a, c.b)
        """,
    "annotations": """
        x: int = 1
        y: 'no such name'
        class A:
            a: int = 1
            b: "list[int]"
            _c: float = 2.0
        def f(p: int, *q: str, r: float = 1.0) -> dict: return p
        obj = A(); obj.z: int = 4
        print(x, A.__annotations__, f.__annotations__, obj.z)
        """,
    "future annotations": """
        from __future__ import annotations
        from dataclasses import dataclass
        from typing import ClassVar
        @dataclass
        class N:
            value: int
            count: ClassVar[int] = 0
            next: N | None = None
        print(N(1, N(2)), N.__annotations__)
        """,
    "match": """
        from dataclasses import dataclass
        import enum
        class Color(enum.Enum):
            RED = 1
            BLUE = 2
        @dataclass
        class P: x: int; y: int
        def f(v):
            match v:
                case 0: return 'zero'
                case -1 | 1: return 'one'
                case Color.RED: return 'red'
                case P(0, y=yy): return f'p{yy}'
                case P(x, y) if x == y: return f'eq{x}'
                case [a, b, *rest]: return (a, b, rest)
                case {'k': k, **others}: return (k, others)
                case str() as s: return s.upper()
                case int(n) | float(n): return n
                case None: return 'none'
                case _: return 'other'
        for v in (0, 1, -1, Color.RED, Color.BLUE, P(0, 3), P(2, 2), P(1, 2), [1, 2, 3], (4, 5),
                  {'k': 1, 'z': 2}, 'abc', 7, 2.5, None, {1}):
            print(f(v))
        """,
    "closures, global, nonlocal": """
        count = 0
        def outer():
            n = 0
            def inner():
                nonlocal n
                global count
                n += 1; count += 1
                return n
            return inner
        f = outer(); f(); print(f(), count)
        """,
    "generators and comprehensions": """
        def gen():
            got = yield 1
            while got: got = yield got * 2
            return 'end'
        def outer():
            result = yield from gen()
            yield result
        g = outer(); print(next(g), g.send(4), g.send(0))
        print([x*y for x in range(3) for y in range(3) if x != y], {x: x**2 for x in range(3)},
              {x % 2 for x in range(5)}, sum(x for x in range(10)), [y := 5, y * 2])
        """,
    "exceptions": """
        class E(Exception):
            def __init__(self, code, **kw):
                super().__init__(f'code {code}')
                self.code = code
                self._kw = kw
            def kw(self): return self._kw
        try:
            try: raise E(5, a=1)
            except E as e: raise ValueError('x') from e
            finally: print('finally')
        except (ValueError, KeyError) as e:
            print(repr(e), repr(e.__cause__), e.__cause__.code, e.__cause__.kw(), e.__context__)
        else: print('no')
        try: [][1]
        except IndexError as e: print(type(e).__name__, e, e.args)
        try: raise ExceptionGroup('g', [ValueError(1), TypeError(2)])
        except ExceptionGroup as g: print(g.exceptions, g.subgroup(ValueError))
        """,
    "context managers": """
        import contextlib, io
        class C:
            def __enter__(self): print('in'); return self
            def __exit__(self, *a): print('out', a[0]); return True
        with C() as c, contextlib.suppress(ValueError): raise ValueError
        with C(): 1 / 0
        @contextlib.contextmanager
        def cm(x):
            print('a'); yield x; print('b')
        with cm(3) as v: print(v)
        out = io.StringIO()
        with contextlib.redirect_stdout(out): print('hidden')
        print(repr(out.getvalue()))
        with contextlib.ExitStack() as s: s.callback(print, 'closed'); s.enter_context(cm(1))
        """,
    "async": """
        import contextlib
        class A:
            def __await__(self):
                x = yield 'w'
                return x
            async def __aenter__(self): return self
            async def __aexit__(self, *a): return False
            def __aiter__(self): self._n = 0; return self
            async def __anext__(self):
                self._n += 1
                if self._n > 2: raise StopAsyncIteration
                return self._n
        async def main():
            async with A() as a:
                async for x in a: print(x)
                print([y async for y in a])
            return await A()
        c = main()
        print(c.send(None))
        try: c.send(42)
        except StopIteration as e: print(e.value)
        """,
    "dataclasses": """
        import dataclasses, copy
        from dataclasses import dataclass, field
        @dataclass(order=True, frozen=True)
        class A:
            x: int
            _y: int = 0
            tags: list = field(default_factory=list, compare=False)
        @dataclass
        class B(A := object): pass
        @dataclass(slots=True)
        class S:
            a: int
            b: str = 'b'
            def __post_init__(self): self.a += 1
        @dataclass(kw_only=True)
        class K(S):
            c: dataclasses.InitVar[int]
            d: float = 1.5
            def __post_init__(self, c): super().__post_init__(); self.a += c
        try: S(1).z = 1
        except AttributeError as e: print('slots')
        k = K(a=1, c=2)
        print(k, dataclasses.asdict(k), dataclasses.astuple(k), [f.name for f in dataclasses.fields(k)])
        P = dataclasses.make_dataclass('P', [('x', int), 'y', ('z', int, 3)])
        print(P(1, 2), dataclasses.replace(P(1, 2), y=9), dataclasses.is_dataclass(P))
        """.replace("class B(A := object): pass", "class B: pass"),
    "enums": """
        import enum
        class C(enum.IntEnum):
            A = enum.auto(); B = enum.auto()
        class F(enum.Flag):
            R = 1; W = 2; RW = R | W
        class S(enum.StrEnum):
            X = enum.auto()
            @classmethod
            def _missing_(cls, v): return cls.X
        class P(enum.Enum):
            E = (1, 2.5)
            def __init__(self, a, b): self.a = a; self.b = b
            @property
            def total(self): return self.a + self.b
        print(list(C), C.A < C.B, F.R | F.W, F(3), S('nope'), P.E.total, P.E.value, P['E'].name)
        print(enum.Enum('Z', 'a b c')['b'].value, C.__members__)
        """,
    "classes": """
        import functools, abc
        class Base(abc.ABC):
            registry = {}
            def __init_subclass__(cls, /, tag=None, **kw):
                super().__init_subclass__(**kw)
                cls.tag = tag
                Base.registry[tag] = cls
            @abc.abstractmethod
            def area(self): ...
            @property
            def twice(self): return 2 * self.area()
            @staticmethod
            def s(): return 's'
            @classmethod
            def c(cls): return cls.__name__
        class Sq(Base, tag='sq'):
            __slots__ = ('_side',)
            def __init__(self, side): self._side = side
            def area(self): return self._side ** 2
            def __eq__(self, o): return isinstance(o, Sq) and self._side == o._side
            def __hash__(self): return hash(self._side)
            def __repr__(self): return f'{self.__class__.__name__}({self._side})'
        try: Base()
        except TypeError as e: print('abstract')
        print(Sq(3).twice, Sq.c(), Sq.s(), {Sq(1), Sq(1)}, Base.registry, Sq.tag, Sq.__mro__)
        class Mangled:
            def __init__(self): self.__x = 1; self.__y()
            def __y(self): self.__x += 10
            def get(self): return self.__x
        m = Mangled(); print(m.get(), m._Mangled__x, sorted(vars(m)))
        class Borg:
            _shared = {}
            def __init__(self): self.__dict__ = self._shared
        Borg().a = 5; print(Borg().a)
        class Single(type):
            _made = {}
            def __call__(cls, *a):
                if cls not in cls._made: cls._made[cls] = super().__call__(*a)
                return cls._made[cls]
        class One(metaclass=Single): pass
        print(One() is One(), type(One).__name__)
        class Desc:
            def __set_name__(self, owner, name): self._n = '_' + name
            def __get__(self, obj, owner=None): return self if obj is None else getattr(obj, self._n, 0)
            def __set__(self, obj, value): setattr(obj, self._n, value)
        class Uses:
            d = Desc()
        u = Uses(); u.d = 5; print(u.d, u._d)
        class Dyn:
            def __getattr__(self, n): return n.upper()
            def __setattr__(self, n, v): super().__setattr__(n, v * 2)
        d = Dyn(); d.x = 4; print(d.x, d.foo)
        def add_repr(cls):
            def __repr__(self): return 'R'
            cls.__repr__ = __repr__
            cls.extra = 1
            return cls
        @add_repr
        class Decorated: pass
        print(Decorated(), Decorated.extra, type('T', (Decorated,), {'x': 1})().x)
        """,
    "inheriting from the library": """
        import collections, json, random, html.parser, datetime, decimal, string, io, typing
        class D(dict):
            def __missing__(self, k): return k * 2
            def __setitem__(self, k, v): super().__setitem__(k, v); self._last = k
            def last(self): return self._last
        d = D(); d['a'] = 1; print(d['zz'], d, d.last())
        class L(list):
            def __getitem__(self, i): return super().__getitem__(i) * 10
        print(L([1, 2])[1])
        class Enc(json.JSONEncoder):
            def default(self, o): return str(o) if isinstance(o, set) else super().default(o)
        print(json.dumps({'a': {1}}, cls=Enc, indent=1))
        class Hp(html.parser.HTMLParser):
            def __init__(self): super().__init__(); self.tags = []; self._depth = 0
            def handle_starttag(self, t, a): self.tags.append((t, a)); self._depth += 1
        p = Hp(); p.feed('<a href="x"><b>t</b></a>'); print(p.tags, p._depth)
        class R(random.Random):
            def __init__(self): super().__init__(7); self._calls = 0
            def random(self): self._calls += 1; return super().random()
        r = R(); r.random(); print(r._calls)
        class U(collections.UserDict):
            def __setitem__(self, k, v): self.data[str(k)] = v
        u = U(); u[1] = 2; print(u)
        class N(typing.NamedTuple):
            a: int
            b: str = 'x'
            @property
            def c(self): return self.a * 2
        print(N(1), N(1)._replace(a=5).c, N._fields, N(2)._asdict())
        class T(typing.TypedDict, total=False):
            a: int
        print(T(a=1), T.__total__)
        X = typing.TypeVar('X')
        class St(typing.Generic[X]):
            def __init__(self) -> None: self._items: list[X] = []
            def push(self, x: X) -> None: self._items.append(x)
        s = St[int](); s.push(1); print(s._items)
        class Pr(typing.Protocol):
            def f(self) -> int: ...
        class Impl:
            def f(self): return 1
        print(isinstance(Impl(), typing.runtime_checkable(Pr)))
        class Tz(datetime.tzinfo):
            def utcoffset(self, dt): return datetime.timedelta(hours=1)
            def dst(self, dt): return None
            def tzname(self, dt): return 'T'
        print(datetime.datetime(2020, 1, 1, tzinfo=Tz()))
        class Tm(string.Template): delimiter = '%'
        print(Tm('%a').substitute(a=1))
        """,
    "decorators and functools": """
        import functools
        def deco(n):
            def wrap(f):
                @functools.wraps(f)
                def inner(*a, **k):
                    inner.calls += 1
                    return f(*a, **k) * n
                inner.calls = 0
                return inner
            return wrap
        @deco(3)
        def f(x):
            'text'
            return x + 1
        print(f(1), f.calls, f.__name__, f.__doc__, f.__wrapped__(1))
        @functools.lru_cache(maxsize=None)
        def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
        print(fib(50), fib.cache_info().hits, fib.__name__)
        class C:
            @functools.cached_property
            def v(self): print('once'); return 5
            @functools.singledispatchmethod
            def g(self, x): return 'any'
            @g.register
            def _(self, x: int): return 'int'
            @g.register(str)
            def _(self, x): return 'str'
        c = C(); print(c.v, c.v, c.g(1), c.g('a'), c.g(1.0))
        @functools.singledispatch
        def sd(x, y=0): return ('object', y)
        @sd.register
        def _(x: int | float, y=0): return ('number', y)
        @sd.register(list)
        def _l(x, y=0): return ('list', y)
        print(sd('a'), sd(1), sd(2.0, y=3), sd([]), sd.registry[list] is not None)
        @functools.total_ordering
        class T:
            def __init__(self, x): self.x = x
            def __eq__(self, o): return self.x == o.x
            def __lt__(self, o): return self.x < o.x
        print(T(1) >= T(0), functools.reduce(lambda a, b: a * b, range(1, 6)),
              functools.partial(int, base=2)('101'))
        """,
    "copying": """
        import copy, collections, datetime, decimal, dataclasses, enum
        class A:
            def __init__(self): self.x = [1]; self._y = {'k': [2]}
        a = A(); b = copy.copy(a); c = copy.deepcopy(a)
        a.x.append(2); print(b.x, c.x, c._y, b.x is a.x)
        class N:
            def __init__(self): self.me = self; self.other = [self]
        n = copy.deepcopy(N()); print(n.me is n, n.other[0] is n)
        class S:
            __slots__ = ('p', '_q')
            def __init__(self): self.p = [1]; self._q = 2
        s = copy.deepcopy(S()); print(s.p, s._q)
        class D(dict): pass
        d = D(a=[1]); d.extra = 1; e = copy.deepcopy(d); print(e, e.extra, e is not d)
        class L(list): pass
        l = L([[1]]); l.t = 2; m = copy.deepcopy(l); print(m, m.t, m[0] is not l[0])
        class C:
            def __copy__(self): return 'copied'
            def __deepcopy__(self, memo): return 'deep'
        print(copy.copy(C()), copy.deepcopy([C()]))
        class E(enum.Enum): X = 1
        class Err(Exception): pass
        P = collections.namedtuple('P', 'a b')
        @dataclasses.dataclass(frozen=True)
        class F: a: list
        for v in (collections.deque([1, [2]]), collections.OrderedDict(a=[1]), collections.Counter('aab'),
                  collections.defaultdict(list, a=[1]), datetime.date(2020, 1, 2), decimal.Decimal('1.5'),
                  E.X, P([1], 2), F([1]), {1, 2}, (1, [2]), 'x', None, range(3), Err(5), bytearray(b'x'),
                  datetime.timedelta(1), frozenset([1]), len, int, 1.5):
            print(copy.copy(v), copy.deepcopy(v), copy.deepcopy([v])[0] == v or repr(v)[:3])
        """,
    "names with underscores": """
        _private = 1
        __also = 2
        _ = [x for _ in range(2) for x in 'a']
        def _helper(_a, *_b, _c=3, **_d): return _a, _b, _c, _d
        class _C:
            _attr = 1
            def _m(self): return self._attr
        for _i, (_j, *_k) in [(1, (2, 3, 4))]: pass
        print(_private, __also, _, _helper(1, 2, _c=4, _e=5), _C()._m(), _i, _j, _k)
        if __name__ == '__main__': print('main', __doc__)
        __all__ = ['x']; __version__ = '1.0'; __author__ = 'me'
        print(__all__, __version__, __author__)
        """,
    "strings": """
        name, n = 'x', 3.14159
        print(f'{name!r:>5} {n:.{2}f} {n=:.1f} {{}} {"nested " + f"{name}"}')
        print('{} {0}'.format if False else '{0} {1:>4} {k[a]} {o.real}'.format(1, 2, k={'a': 3}, o=5))
        print('%s %05.1f %(a)s' % {'a': 1} if False else '%s %05.1f' % (1, 2.25))
        print('{x} {y.__class__.__name__}'.format_map({'x': 1, 'y': 2}), 'a,b'.split(','))
        class F:
            def __format__(self, spec): return f'<{spec}>'
        print(f'{F():abc}', '{:xyz}'.format(F()), format(F(), 'q'))
        """,
    "unpacking and calls": """
        a, (b, *c), d = 1, (2, 3, 4), 5
        [x, y] = 1, 2
        def f(p, /, q, *r, s=1, **t): return p, q, r, s, t
        print(a, b, c, d, x, y, f(1, 2, 3, s=4, u=5), f(*[1, 2], **{'s': 3}), [*range(3), *'ab'],
              {**{'a': 1}, 'b': 2}, (lambda *a, k=2: (a, k))(1, 2))
        """,
    "recursion": """
        import sys
        sys.setrecursionlimit(5000)
        def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
        print(depth(3000))
        def hanoi(n, a, b, c): return 0 if n == 0 else hanoi(n-1, a, c, b) + 1 + hanoi(n-1, c, b, a)
        print(hanoi(10, 'a', 'b', 'c'))
        try:
            def inf(): return inf()
            inf()
        except RecursionError as e: print('RecursionError')
        """,
    "builtins": """
        print(sorted([3, 1, 2], key=lambda x: -x), list(map(str, filter(None, [0, 1, 2]))), sum([1, 2]),
              any([0, 1]), all([]), min(3, 1), max('ab'), abs(-1), round(2.567, 2), divmod(7, 2),
              pow(2, 10, 7), hex(255), ord('a'), chr(98), bin(5), list(zip('ab', [1, 2])),
              list(enumerate('ab', 1)), list(reversed([1, 2])), isinstance(1, int), issubclass(bool, int),
              callable(print), type(1), hash(1), len('abc'), repr('x'), bytes([1]), bytearray(b'a'),
              memoryview(b'ab')[0], complex(1, 2), frozenset([1]), slice(1, 2), iter([1]) is not None,
              getattr(1, 'real'), hasattr(1, 'nope'), getattr(1, 'nope', 'default'), object is not None)
        class A: x = 1
        a = A(); setattr(a, 'y', 2); setattr(a, '_z', 3); delattr(a, 'y')
        print(vars(a), [n for n in dir(a) if n[0] != '_'], hasattr(a, '_z'), getattr(a, '_z'))
        print(1, 2, sep='-', end='!\\n')
        """,
    "the library": """
        import math, statistics, itertools, collections, heapq, bisect, json, re, textwrap, datetime
        import random, string, decimal, fractions, base64, hashlib, struct, csv, io, uuid, operator
        import xml.etree.ElementTree as ET
        import urllib.parse, html, difflib, pprint, array, calendar, configparser, time, zlib if False else time
        """.replace(", zlib if False else time", "")
    + """
        print(math.pi, statistics.mean([1, 2, 3]), list(itertools.combinations('abc', 2)))
        decimal.getcontext().prec = 6
        print(decimal.Decimal(1) / 7, fractions.Fraction(1, 3) + 1)
        with decimal.localcontext() as ctx:
            ctx.prec = 3; print(decimal.Decimal(1) / 7)
        print(datetime.datetime.strptime('2020-02-03', '%Y-%m-%d').strftime('%d/%m/%Y %A'))
        print(time.strptime('2020', '%Y').tm_year, time.strftime('%Y', time.gmtime(0)))
        print(re.sub(r'(\\d)', r'<\\1>', 'a1b2'), re.findall(r'[a-z]', 'a1b2'),
              re.compile('(?P<n>x)').match('x').groupdict(), re.sub('x', lambda m: m.group().upper(), 'axa'))
        random.seed(1); print(random.randint(1, 100), random.sample(range(10), 3))
        root = ET.fromstring('<a><b k="v">t</b></a>')
        root.find('b').text = 'new'; ET.SubElement(root, 'c').set('x', '1')
        print(ET.tostring(root), ET.parse(io.StringIO('<q/>')).getroot().tag)
        out = io.BytesIO(); ET.ElementTree(root).write(out); print(out.getvalue())
        print(urllib.parse.urlparse('http://a/b?c=d')._replace(scheme='https').geturl(),
              urllib.parse.parse_qs('a=1&a=2'), html.escape('<'))
        w = csv.writer(buf := io.StringIO()); w.writerow([1, 'a,b']); print(repr(buf.getvalue()))
        print(list(csv.DictReader(io.StringIO('a,b\\n1,2'))))
        c = configparser.ConfigParser(); c.read_string('[s]\\nk = 1'); print(c['s'].getint('k'))
        c['t'] = {'x': '2'}; print(c.sections())
        print(hashlib.sha256(b'x').hexdigest()[:8], base64.b64encode(b'hi'), struct.pack('<I', 5))
        print(operator.attrgetter('real', 'imag')(5), operator.methodcaller('upper')('a'),
              operator.itemgetter(1)([1, 2]))
        t = textwrap.TextWrapper(); t.width = 10; print(t.wrap('hello big world'))
        print(uuid.uuid5(uuid.NAMESPACE_DNS, 'x'), array.array('i', [1, 2]), calendar.monthrange(2024, 2))
        pprint.pprint({'a': [1] * 3}); print(list(difflib.unified_diff(['a'], ['b'], lineterm='')))
        print(collections.Counter('aab').most_common(1), heapq.nsmallest(2, [3, 1, 2]), bisect.bisect([1, 3], 2))
        print(json.loads(json.dumps({'a': [1, None, True]})), 'héé'.encode('cp1252'), b'\\xe9'.decode('latin-1'))
        import collections.abc as cabc
        from xml.etree import ElementTree
        print(isinstance([], cabc.Sequence), ElementTree is ET)
        """,
    "sys": """
        import sys
        sys.stdout.write('written\\n'); sys.stdout.flush(); print('x', file=sys.stdout)
        print(sys.argv, sys.maxsize > 0, sys.version_info >= (3, 11), sys.byteorder, sys.getsizeof(1) > 0)
        """,
    "except ImportError": """
        try:
            import no_such_module_anywhere
        except ImportError as e:
            print(type(e).__name__)
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_plain_python(name: str) -> None:
    source = PROGRAMS[name]
    if name == "sys":
        source = source.replace("sys.argv", "len(sys.argv[:1])")
    assert_same(source)


@pytest.mark.parametrize("name", ["classes", "enums", "dataclasses", "inheriting from the library"])
def test_same_with_open_packages(name: str) -> None:
    """Profiles with native packages do not check classes that library code makes."""
    ran, plain = run(PROGRAMS[name], kind="open"), run_plain(PROGRAMS[name])
    assert (ran.error, ran.stdout) == (None, plain.stdout), ran.traceback


def test_instances_of_open_packages_may_be_changed_classes_not() -> None:
    source = "import graphlib\nsorter = graphlib.TopologicalSorter()\nsorter.y = sorter._z = 2"
    assert run(source, kind="open").error is None
    assert run(source).error == "AttributeError"
    source = "import graphlib\ngraphlib.TopologicalSorter.x = 1"
    assert run(source, kind="open").error == "TypeError"
    assert run("import json\njson.JSONEncoder.x = 1", kind="open").error == "TypeError"
    source = "import abc\nclass A(abc.ABC):\n  def f(self): self._x = 1; return self._x\nA().f()"
    assert run(source, kind="open").result == "1"


def test_result_is_the_last_expression() -> None:
    assert run("1 + 1").result == "2"
    assert run("x = 5").result == "None"
    assert run("'''only text'''").result == "'only text'"
    assert run("x = 1\nx  # a comment\n").result == "1"
    assert run("x = 1; x + 1").result == "2"
    assert run("def f():\n  return 3\nf()").result == "3"
    assert run("").result == "None"
    assert run("print(1)").result == "None"


def test_line_numbers_are_kept() -> None:
    ran = run("class A:\n    pass\n\na = A()\na.x = (\n    1 / 0\n)\n")
    assert ran.error == "ZeroDivisionError" and 'main.py", line 6' in ran.traceback


def test_input_reads_what_was_given() -> None:
    assert assert_runs("input('name? ') + input()", stdin="a\nb\n").result == "'ab'"
    ran = run("input()")
    assert (ran.error, ran.message) == ("EOFError", "input() found no more lines")


def test_exit() -> None:
    for call in ("exit(3)", "quit(3)", "import sys\nsys.exit(3)", "raise SystemExit(3)"):
        assert run(call).error == "SystemExit"


def test_long_chains_are_not_too_deep() -> None:
    assert run("x = " + " + ".join(["1"] * 900) + "\nx").result == "900"
