"""Programs that mean something: they end, and print the same wherever they run.

The classes and functions are given, with variations; the statements that use them are drawn. An
integer stays small, a loop has a few rounds, a function calls none of those below it. Nothing
prints an address or the order of a set.
"""

# ruff: noqa: E501 (templates are kept as they are read)
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

_HEADER = """\
{future}import math, functools as ft
from collections import Counter, defaultdict as dd
try:
    import nothing_like_it
except ImportError:
    print('no such module')
count = 0
{decorated}class Base{bases}:
    '''Holds numbers.'''
    made = 0
    _shared = [1, 2]
    {slots}
    def __init__(self, x=1, *rest, y=2, **named):
        self.x, self._y = x, y
        self.__z = list(rest)
        self.named = named
        Base.made += 1
        type(self)._last = x
    def __repr__(self):
        return f'{{type(self).__name__}}({{self.x!r}}, {{self._y!r}}, {{self.__z!r}})'
    def __add__(self, other): return type(self)(self.x, y=other)
    def __iadd__(self, other):
        self._y = other
        return self
    def __eq__(self, other): return isinstance(other, Base) and self.x == other.x
    def __lt__(self, other): return self.x < other.x
    __hash__ = None
    def __enter__(self):
        self.depth = getattr(self, 'depth', 0) + 1
        return self.depth
    def __exit__(self, kind, value, _traceback):
        self.depth -= 1
        return kind is {suppressed}
    def __iter__(self): yield from self.__z
    def __len__(self): return len(self.__z)
    def __getitem__(self, k): return self.__z[k]
    def __setitem__(self, k, v): self.__z[k] = v
    def __getattr__(self, name):
        if name.startswith('missing'): return name.upper()
        raise AttributeError(name)
    @property
    def _double(self): return self.x * 2
    @_double.setter
    def _double(self, value): self.x = value
    @classmethod
    def of(cls, *items): return cls(*items)
    @staticmethod
    def _plain(n): return n - 1
    def push(self, n):
        self.__z.append(n)
        return self
class Derived(Base):
    __match_args__ = ('x', {second!r})
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.__z = ['own']
    def push(self, n):
        self.__z += [n]
        return super().push(n % 5)
    @ft.cached_property
    def total(self): return sum(self) + self._double
    class _Inner:
        level = {small}
        levels = [n for n in range(level)]
def gen(n, step=1):
    global count
    while n > 0:
        count += 1
        got = yield n
        n -= step if got is None else got
    return count
def closure(start):
    held = start
    def bump(by=1, /, *, twice=False):
        nonlocal held
        held += by * (1 + twice)
        return held
    return bump
def logged(f):
    @ft.wraps(f)
    def inner(*args, **named):
        print(f.__name__, args, sorted(named))
        return f(*args, **named)
    return inner
@logged
def pick(kind, *rest, sep='-', **_):
    match kind, rest:
        case int(n), _ if n > {small}: return 'big'
        case int() | float(), (first, *others): return [first, len(others)]
        case Derived(x, other), _: return (x, other)
        case Base(x=0) as zero, _: return zero._y
        case [a, *b], _: return {{'a': a, 'b': b}}
        case {{'k': value, **others}}, _: return (value, sorted(others))
        case str() as text, _: return sep.join(text)
        case (None | True), _: return 'constant'
    return 'other'
async def later(n):
    async def one(): return n
    return [await one() for _ in range(2)] + [x async for x in ticks(n)]
async def ticks(n):
    for i in range(n % 4): yield i
def drive(coroutine):
    try: coroutine.send(None)
    except StopIteration as stop: return stop.value
bump = closure(1)
a, b, n, s, l, d = 1, 2, 3, 'text', [3, 1, 2], {{'k': 1}}
o, p = Base(1, 2), Derived(3, 4, y=5, q=6)
o.tmp = o._tmp = o.note = p._rest = last = 0
o.f = global_ = print
"""

_CHOICES: dict[str, tuple[str, ...]] = {
    "future": ("", "from __future__ import annotations\n"),
    "decorated": ("", "@ft.total_ordering\n", "@(lambda c: c)\n"),
    "bases": ("", "(object)"),
    "slots": ("pass", "limit: int = 3", "limit: 'int'"),
    "suppressed": ("ValueError", "KeyError"),
    "second": ("y", "named"),  # a private name is not matched by place
    "small": ("2", "0", "4"),
}

# An expression of each kind, and statements of everything that the policy looks at.
_PARTS: dict[str, tuple[str, ...]] = {
    "int": (
        "a", "b", "n", "1", "0", "7", "len({list})", "({int} + {int}) % 50", "({int} - {int})",
        "({int} * 3) % 17", "{object}.x", "{object}._y", "p._double", "Base.made", "Base._last",
        "Base._plain({int})", "bump({int})", "bump({int}, twice=True)", "{int} // {int}",
        "({int} if {test} else {int})", "sum({list})", "count", "ord(s[0])",
        "(lambda q, r={int}: q + r)({int})", "p.total", "math.floor(2.5)", "Derived._Inner.level",
        "ft.reduce(lambda u, v: (u + v) % 9, {list}, {int})", "-{int}", "~{int}", "d['k']",
    ),
    "list": (
        "l", "[{int}, {int}]", "[*{list}, {int}]", "list({object})", "list(gen({small}))",
        "sorted({list}, key=lambda q: -q)", "[q + {int} for q in {list}]",
        "[r for q in ({list}, l) for r in q if r > {int}]", "l[{int}:]", "Base._shared",
        "list(map(abs, {list}))", "Derived._Inner.levels",
        "list(zip(*[{list}]))[0]",
    ),
    "small": ("2", "3", "{int} % 4"),
    "object": ("o", "p", "(o + {int})", "Derived({int}, *{list})", "Base.of({int})", "p.push({int})"),
    "text": (
        "s", "'ab'", "f'{{{int}:>{{{small} % 5}}}}|{{{object}._y!r}}'", "str({int})", "repr({object})",
        "'{{0.x}}-{{1}}'.format({object}, {int})", "s.upper()", "'%d/%s' % ({int}, {test})",
        "o.missing_thing", "type({object}).__name__", "Base.__doc__", "'-'.join(map(str, {list}))",
        "{object}.__class__.__name__", "pick.__name__", "gen.__qualname__",
    ),
    "test": (
        "{int} < {int} <= {int}", "{object} == {object}", "{int} in {list}", "{object} is o", "not {list}",
        "hasattr({object}, '_y')", "isinstance({object}, Derived)", "({test} and {test})", "True",
    ),
    "any": (
        "{int}", "{list}", "{text}", "{test}", "{object}", "d", "({int}, {text})", "{{{int}: {list}}}",
        "pick({int}, {int})", "pick({object})", "pick({list}, sep={text})", "pick({text}, q=1)",
        "pick({{'k': {int}, 'z': 0}})", "drive(later({int}))", "sorted({object}.__dict__)",
        "vars({object})['_y']", "getattr({object}, '_y', None)", "Counter(s).most_common(1)",
        "{{q: q % 2 for q in {list}}}", "sorted({{q % 3 for q in {list}}})", "s == {text} or None",
        "Base.__init__.__name__", "[c.__name__ for c in Derived.__mro__]", "Derived.__bases__ == (Base,)",
        "o._Base__z", "p._Derived__z", "Base.__annotations__ if {test} else 0",
    ),
    "error": ("ValueError", "KeyError", "(TypeError, ZeroDivisionError)", "Exception"),
    "simple": (
        "print({any})", "a = {int}", "b, n = {int}, {int}", "a += {int} % 9", "m: int = {int}",
        "l = {list}", "l[{int} % 3] = {int}", "l[0] += {int}", "d['k'] = {int}", "d['k'] -= {int}",
        "{object}.x = {int}", "{object}._y = {int}", "{object}.x += {int}", "o._y *= {small}",
        "o.tmp = o._tmp = {any}", "del o.tmp", "del o._tmp, d['gone']", "o.x, *p._rest = {list}",
        "[o.x, (p._y, a)] = {int}, ({int}, {int})", "p._double = {int}", "p._double += {int}", "o += {int}",
        "Base.made = {int}", "Base._shared += [{int}]", "setattr({object}, 'tmp', {int})", "s = {text}[:9]",
        "o.note: int = {int}", "o._note: str = {text}", "print(p._rest, o.note)", "{any}",
        "print((n := {int}) + n)", "print([(last := q) for q in {list}], o._y or last)",
        "raise ValueError({text})", "raise KeyError({int}) from None", "assert {test}, {text}",
        "p[{int}] = {int}", "print(*{object}, sep={text})", "for o.x in {list}: print(o.x)",
        "for _q, p._y in [({int}, {int})]: print(_q, p._y)", "print([o.x for o.x in {list}], o.x)",
        "with o as o.held, p as p._held: print(o.held, p._held, o.depth)", "global_ = lambda: {any}",
        "print(global_())", "o.f = lambda q, *r, **k: (q, r, k)\nprint(o.f({int}, {int}, z={text}))",
        "Base.later = lambda self, q: self._y + q\nprint({object}.later({int}))",
        "g = gen(9, {small} + 1)\nprint(next(g), g.send({small} + 1), list(g))",
    ),
    "statement": (
        "{simple}", "{simple}", "{simple}", "if {test}:{block}\nelse:{block}",
        "for n in range({small}):{block}\n{tab}if {test}: break\nelse:{block}",
        "try:{block}\nexcept {error} as err:\n{tab}print(type(err).__name__, err)\nelse:{block}\n"
        "finally:{block}",
        "try:{block}\nexcept Exception as err:\n{tab}print(repr(err), err.__context__ is None)",
        "with {object} as a:{block}", "def local(own, _k={any}):\n{tab}global a, b, n, s, l, o, p, w, last, g, global_\n"
        "{tab}own._y += 1{block}\n{tab}return own._y\nprint(local(p))",
        "class Local(Base):\n{tab}_v = {any}\n{tab}w = [q for q in {list}]\n{tab}def m(self): return self._v\n"
        "print(Local({int}).m(), Local.w)",
        "w = {small}\nwhile w > 0:\n{tab}w -= 1{block}",
        "match {any}:\n{tab}case [q, *_]: print('list', q)\n{tab}case Derived(q, r): print(q, r)\n"
        "{tab}case Base(x=q, named=r) if q: print(q, r)\n{tab}case _: print('else')",
    ),
}  # fmt: skip

_PART = re.compile(r"\{\{|\}\}|\{([a-z]+)\}")


class _Writer:
    def __init__(self, draw: Callable[[Any], Any], size: int) -> None:
        self._pick = lambda options: draw(st.sampled_from(options))
        self._left = size

    def block(self, depth: int, indent: str, most: int = 2) -> str:
        written = ""
        for _ in range(self._pick(range(1, most + 1))):
            # At the top most of what is raised is caught, so that the rest of the program runs too.
            if depth == 0 and self._pick((True, True, True, False)):
                written += f"\ntry:\n{self._statement(0, '    ')}\nexcept Exception as error:"
                written += "\n    print(type(error).__name__, error)"
            else:
                written += f"\n{self._statement(depth, indent)}"
        return written

    def _statement(self, depth: int, indent: str) -> str:
        # Loops in loops in loops take their time.
        kind = "statement" if depth < 3 and self._left > 0 else "simple"
        template = self._pick(_PARTS[kind])
        return indent + self._fill(template.replace("\n", "\n" + indent), depth, indent)

    def _fill(self, template: str, depth: int, indent: str) -> str:
        self._left -= 1

        def part(match: re.Match[str]) -> str:
            kind = match[1]
            if kind is None:
                return match[0][0]
            if kind == "tab":
                return "    "
            if kind == "block":
                return self.block(depth + 1, indent + "    ")
            options = _PARTS[kind]
            if kind == "simple":
                options = tuple(option.replace("\n", "\n" + indent) for option in options)
            return self._fill(self._pick(options if self._left > 0 else options[:1]), depth, indent)

        return _PART.sub(part, template)


@st.composite
def meaningful_program(draw: Callable[[Any], Any]) -> str:
    chosen = {name: draw(st.sampled_from(options)) for name, options in _CHOICES.items()}
    chosen["second"] = repr(chosen["second"])
    header = _HEADER.replace("{second!r}", "{second}").format(**chosen)
    body = _Writer(draw, draw(st.integers(5, 60))).block(0, "", most=8)
    return f"{header}{body}\nresult = (a, b, n, s, l, d, o, p, count)\n"
