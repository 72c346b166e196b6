"""A little stream library with method chaining, Maybe/Result types and currying."""
from __future__ import annotations

import collections.abc
import functools
import itertools
import operator as op
from dataclasses import dataclass
from typing import Callable, Generic, Iterable, Iterator, TypeVar, Union

A, B = TypeVar("A"), TypeVar("B")


class Stream(Generic[A]):
    def __init__(self, source: Iterable[A]): self._it = iter(source)
    def __iter__(self) -> Iterator[A]: return self._it
    def map(self, f: Callable[[A], B]) -> Stream[B]: return Stream(map(f, self))
    def filter(self, f) -> Stream[A]: return Stream(filter(f, self))
    def take(self, n): return Stream(itertools.islice(self, n))
    def flat_map(self, f): return Stream(x for y in self for x in f(y))
    def distinct(self): return Stream(dict.fromkeys(self))
    def chunks(self, n): return Stream(iter(lambda: tuple(itertools.islice(self._it, n)), ()))
    def fold(self, f, start): return functools.reduce(f, self, start)
    def group_by(self, key):
        out = {}
        for x in self:
            out.setdefault(key(x), []).append(x)
        return out

    def __or__(self, f): return f(self)
    to = lambda self, kind: kind(self)

    @classmethod
    def iterate(cls, f, x):
        def go(x=x):
            while True:
                yield x
                x = f(x)
        return cls(go())


@dataclass(frozen=True)
class Ok(Generic[A]):
    value: A
    def then(self, f): return f(self.value)


@dataclass(frozen=True)
class Err:
    why: str
    def then(self, f): return self


Result = Union[Ok[A], Err]


def parse(s: str) -> Result[float]:
    try:
        return Ok(float(s))
    except ValueError:
        return Err(f"not a number: {s!r}")


def inverse(x: float) -> Result[float]: return Ok(1 / x) if x else Err("division by zero")


def curry(f, n=None):
    n = n or f.__code_count__ if hasattr(f, "__code_count__") else n or 2

    def step(*got):
        return f(*got) if len(got) >= n else lambda *more: step(*got, *more)
    return step


print(Stream(range(1, 100)).filter(lambda x: x % 7 == 0).map(lambda x: x * x).take(4).to(list))
print(Stream(["a b", "b c"]).flat_map(str.split).distinct().to(list), Stream("abcdefg").chunks(3).to(list))
print(Stream.iterate(lambda x: x * 2, 1).take(8).fold(op.add, 0), Stream("apple bob axe".split()).group_by(op.itemgetter(0)))
print(Stream([3, 1, 2]) | sorted, Stream([1, 2]) | sum, isinstance(Stream([]), collections.abc.Iterable))
for s in "4", "0", "x":
    match parse(s).then(inverse).then(lambda v: Ok(round(v, 3))):
        case Ok(v): print("ok", v)
        case Err(why=w): print("error", w)
add3 = curry(lambda a, b, c: a + b + c, 3)
print(add3(1)(2)(3), add3(1, 2)(3), add3(1)(2, 3))
people = [{"n": "Ann", "a": {"age": 30}}, {"n": "Bob", "a": {"age": 25}}]
print(sorted(map(op.itemgetter("n"), people), reverse=True), min(people, key=lambda p: p["a"]["age"])["n"])
upper = op.methodcaller("upper"); name = op.attrgetter("__class__.__name__", "real")
print(upper("abc"), name(5), op.attrgetter("value")(Ok(3)), functools.reduce(op.mul, range(1, 6)), op.itemgetter(0, -1)("hello"))
flat = [x for row in [[1, 2], [3]] for x in row if x != 2]
nested = {k: {v: k * v for v in range(2)} for k in range(2)}
print(flat, nested, {len(w) for w in ("a", "bb", "cc")}, [[r[i] for r in ([1, 2], [3, 4])] for i in range(2)])
print(*map(lambda a, b: a + b, [1, 2], [10, 20]), all([]), any([]), sum([[1], [2]], []), list(filter(None, [0, 1, "", "a"])))
