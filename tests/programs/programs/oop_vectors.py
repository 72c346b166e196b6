from __future__ import annotations

import math
from functools import reduce
from numbers import Real
from typing import Iterator, SupportsFloat, overload


class Vector:
    """An immutable vector of any dimension."""

    __slots__ = ("_xs",)
    __match_args__ = ("x", "y")

    def __init__(self, *xs: SupportsFloat) -> None:
        object.__setattr__(self, "_xs", tuple(map(float, xs)))

    def __setattr__(self, name, value):
        raise AttributeError(f"{type(self).__name__} is immutable: {name}")

    def __getattr__(self, name):
        try:
            return self._xs["xyzw".index(name)]
        except (ValueError, IndexError):
            raise AttributeError(name) from None

    def __iter__(self) -> Iterator[float]: return iter(self._xs)
    def __len__(self): return len(self._xs)
    def __abs__(self): return math.hypot(*self._xs)
    def __bool__(self): return any(self._xs)
    def __pos__(self): return self
    def __neg__(self): return Vector(*(-x for x in self))

    @overload
    def __getitem__(self, i: int) -> float: ...
    @overload
    def __getitem__(self, i: slice) -> Vector: ...

    def __getitem__(self, i):
        got = self._xs[i]
        return Vector(*got) if isinstance(i, slice) else got

    def __add__(self, o):
        if not isinstance(o, Vector):
            return NotImplemented
        return Vector(*(a + b for a, b in zip(self, o, strict=True)))

    def __sub__(self, o): return self + -o

    def __mul__(self, k):
        if isinstance(k, Real):
            return Vector(*(x * k for x in self))
        if isinstance(k, Vector):
            return sum(a * b for a, b in zip(self, k))
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, k): return self * (1 / k)
    def __matmul__(self, o): return self * o
    def __round__(self, n=0): return Vector(*(round(x, n) for x in self))
    def __eq__(self, o): return self._xs == o._xs if isinstance(o, Vector) else NotImplemented
    def __hash__(self): return reduce(lambda h, x: h ^ hash(x), self._xs, 0)
    def __repr__(self): return f"Vector({', '.join(f'{x:g}' for x in self)})"

    def __format__(self, spec):
        if spec.endswith("p"):
            return f"<{abs(self):{spec[:-1]}}, {math.degrees(math.atan2(self.y, self.x)):{spec[:-1]}}°>"
        return "(" + ", ".join(format(x, spec) for x in self) + ")"

    def __complex__(self): return complex(self.x, self.y)


a, b = Vector(3, 4), Vector(1, 2)
print(a + b, a - b, a * 2, 2 * a, a * b, a @ b, a / 2, -a, +a is a, abs(a), bool(Vector(0, 0)))
print(a == Vector(3, 4), a != b, a == (3, 4), {a, Vector(3, 4)} == {a}, a.x, a.y, Vector(1, 2, 3).z)
print(f"{a:.2f} {a:.1fp} {a!r:>15}", round(Vector(1.26, 2.74), 1), a[0], a[:1], complex(a), sum([a, b], Vector(0, 0)))
match a:
    case Vector(0, y): print("on the y axis", y)
    case Vector(x=3.0, y=yy): print("x is three, y", yy)
for bad in (lambda: a + 1, lambda: "s" * a, lambda: setattr(a, "x", 5), lambda: a.q, lambda: a + Vector(1), lambda: a < b):
    try:
        print(bad())
    except (TypeError, AttributeError, ValueError) as e:
        print(f"{e.__class__.__name__}: {e}")
try:
    a.x = 1
except AttributeError as e:
    print("no:", e)
