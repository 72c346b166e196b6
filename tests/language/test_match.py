"""match: every kind of pattern, in CPython's order."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs, stopped

CONSTRUCTS = (
    "match", "value-pattern", "or-pattern", "capture-pattern", "sequence-pattern", "star-pattern",
    "mapping-pattern", "class-pattern",
)  # fmt: skip

test_runs = runs({
    "literals and singletons": """
        def f(x):
            match x:
                case 0: return 'zero'
                case -1: return 'minus one'
                case 1.5 | 2+3j: return 'number'
                case 'a' 'b': return 'text'
                case b'z': return 'bytes'
                case None: return 'none'
                case True: return 'true'
                case False: return 'false'
                case _: return 'other'
        print([f(x) for x in (0, -1, 1.5, 2+3j, 'ab', b'z', None, True, False, 0.0, 1, [])])
        """,
    "dotted names": """
        import math, enum
        class C(enum.Enum):
            RED = 1
            BLUE = 2
        class K:
            LIMIT = 3
            _HIDDEN = 4
            __MANGLED = 5
            class Inner: _deep = 6
            def f(self, x):
                match x:
                    case K.LIMIT: return 'limit'
                    case self._HIDDEN: return 'hidden'
                    case self.__MANGLED: return 'mangled'
                    case K.Inner._deep: return 'deep'
                    case C.RED: return 'red'
                    case math.pi: return 'pi'
                    case {self._HIDDEN: v}: return v
        print([K().f(x) for x in (3, 4, 5, 6, C.RED, C.BLUE, math.pi, {4: 'key'})])
        """,
    "captures, guards, as": """
        def f(x):
            match x:
                case int(n) if n > 100: return 'big', n
                case (1 | 2) as small: return 'small', small
                case [a, b] as pair if a == b: return 'twins', pair
                case (a, (b, c) as inner) as outer: return a, inner, outer
                case str(_) as s: return s
                case (x): return 'else', x
        print([f(x) for x in (101, 2, [3, 3], (1, [2, 3]), 'txt', 5)])
        match = case = 1
        match match:
            case case: print(case)
        """,
    "sequences": """
        def f(x):
            match x:
                case []: return 'empty'
                case [1]: return 'one'
                case 1, 2: return 'one two'
                case [a, *_, b] if a == b: return 'same ends'
                case ['go', *rest]: return rest
                case [*init, 'end']: return init
                case [[a, [b]], *_]: return a, b
                case (a,): return 'tuple', a
                case [*_]: return 'any'
                case _: return 'none'
        print([f(x) for x in ([], [1], (1, 2), [5, 6, 5], ('go', 1), [7, 'end'], [[1, [2]]], (9,),
                              range(3), 'text', b'xy', {1, 2}, iter([1]))])
        """,
    "mappings": """
        def f(x):
            match x:
                case {'a': 1, **rest}: return 'a1', rest
                case {'b': [x, *_], 'c': {'d': d}}: return x, d
                case {1: _, None: n}: return n
                case {'only': v, **_rest}: return v, _rest
                case {}: return 'mapping'
                case _: return 'no'
        import collections
        print([f(x) for x in ({'a': 1, 'z': 2}, {'b': [3], 'c': {'d': 4}}, {1: 0, None: 5},
                              {'only': 6}, {'q': 1}, {}, [], collections.OrderedDict(a=1))])
        d = collections.defaultdict(list)
        match d:
            case {'missing': _}: print('never')
            case _: print(dict(d))
        """,
    "classes": """
        import dataclasses
        @dataclasses.dataclass
        class P:
            x: int
            y: int = 0
        class Q:
            __match_args__ = ('a', 'b')
            def __init__(self, a, b): self.a, self.b = a, b
        def f(v):
            match v:
                case P(0, 0): return 'origin'
                case P(x=1, y=y): return 'x1', y
                case P(x, y) if x == y: return 'diagonal'
                case P(): return 'some P'
                case Q(a, b=[P(z, _)]): return a, z
                case int() | float() as n: return 'number', n
                case str(s) if len(s) > 3: return s
                case list([a]) | tuple([a]): return 'one', a
                case dict(d): return d
                case bool(): return 'never: bool is int'
                case object(): return 'object'
        print([f(v) for v in (P(0), P(1, 5), P(2, 2), P(3, 4), Q(1, [P(7)]), 3, 2.5, 'long text', 'abc',
                              [9], (8,), {'k': 1}, True, None)])
        """,
    "attributes are looked up as CPython does": """
        log = []
        class A:
            __match_args__ = ('x', 'y')
            def __getattr__(self, name):
                log.append(name)
                if name == 'missing': raise AttributeError
                return name
        class Meta(type):
            def __instancecheck__(cls, o): log.append('isinstance'); return True
        class B(metaclass=Meta): pass
        match A():
            case A('no'): pass
            case A(missing=1): pass
            case B(): print('by metaclass')
        print(log)
        """,
    "nested, or, and leftovers": """
        match [1, [2, 3], {'a': {'b': (4, 'c')}}]:
            case [int(a), [b, *c], {'a': {'b': (4 | 5 as d, str(e))}, **f}]: print(a, b, c, d, e, f)
        match 5:
            case 1 | 2: pass
        match (x := [1, 2]):
            case [p, 99]: pass
            case [q, r]: print(x, q, r, 'p' in dir())
        match 1, 2:
            case a, b: print(a, b)
        match *[1, 2], 3:
            case [*all]: print(all)
        """,
    "in loops, functions and classes": """
        class A:
            match 3:
                case y: pass
            def m(self, v):
                match v:
                    case [self_x, _]: self.x = self_x; return self.x
        def g(items):
            for i in items:
                match i:
                    case 0: continue
                    case 9: break
                    case n: yield n
        print(A.y, A().m([1, 2]), list(g([1, 0, 2, 9, 3])))
        """,
})  # fmt: skip

test_raises = raises([
    ("TypeError", "match 5:\n  case int(1, 2): pass"),
    ("TypeError", "class P: __match_args__ = ('x',)\nmatch P():\n  case P(1, 2): pass"),
    ("TypeError", "x = 5\nmatch 1:\n  case x(): pass"),
    ("NameError", "match 1:\n  case Undefined(): pass"),
    ("AttributeError", "a = 5\nmatch 1:\n  case a.x: pass"),
    ("AttributeError", "class A: pass\nmatch 1:\n  case A._x: pass"),
    ("ZeroDivisionError", "match 1:\n  case x if x / 0: pass"),
    ("SyntaxError", "match 1:\n  case x: pass\n  case y: pass"),
    ("SyntaxError", "match 1:\n  case [a, a]: pass"),
    ("SyntaxError", "match 1:\n  case x | 1: pass"),
    ("SyntaxError", "match 1:\n  case {**a, 'b': 1}: pass"),
    ("SyntaxError", "match 1:\n  case {'a': 1, 'a': 2}: pass"),
    ("SyntaxError", "match 1:\n  case f'x': pass"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 2, 8, "match x:\n  case __builtins__: pass"),
    ("BJ101", 2, 8, "match x:\n  case int() as __import__: pass"),
    ("BJ101", 2, 12, "match x:\n  case [a, *__builtins__]: pass"),
    ("BJ101", 2, 8, "match x:\n  case {'a': 1, **__builtins__}: pass"),
    ("BJ307", 2, 8, "match x:\n  case A(__dict__=d): pass"),
    ("BJ307", 2, 8, "match x:\n  case A(_private=d): pass"),
    ("BJ307", 2, 8, "match x:\n  case A(gi_frame=d): pass"),
    ("BJ307", 2, 8, "match x:\n  case A._B(): pass"),
    ("BJ301", 2, 8, "match x:\n  case f.__globals__: pass"),
    ("BJ303", 2, 8, "match x:\n  case g.gi_frame.x: pass"),
    ("BJ102", 1, 7, "match __builtins__:\n  case _: pass"),
    ("BJ301", 2, 13, "match x:\n  case y if y.__code__: pass"),
])  # fmt: skip

test_stopped = stopped([
    ("BJ307", "class P:\n  __match_args__ = ('__globals__',)"),
    ("BJ307", "class P:\n  __match_args__ = ['x']"),
    ("BJ307", "class P: pass\nP.__match_args__ = ('gi_frame',)"),
])  # fmt: skip
