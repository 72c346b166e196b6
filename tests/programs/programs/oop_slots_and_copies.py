import copy
import sys
from fractions import Fraction


class Slotted:
    __slots__ = ("a", "_b", "__c")

    def __init__(self, a):
        self.a, self._b, self.__c = a, a * 2, a * 3

    def total(self): return self.a + self._b + self.__c

    def __eq__(self, o): return type(o) is type(self) and all(getattr(self, s) == getattr(o, s) for s in ("a", "_b"))
    def __hash__(self): return hash((self.a, self._b))


class Child(Slotted):
    __slots__ = ("d", "__dict__")


class Tree:
    def __init__(self, name, *kids): self.name, self.kids, self.parent = name, list(kids), None; [setattr(k, "parent", self) for k in kids]
    def __repr__(self): return f"{self.name}{self.kids or ''}"


class Money:
    def __init__(self, amount, log=None): self.amount, self.log = amount, log if log is not None else []
    def __copy__(self): return Money(self.amount, self.log)
    def __deepcopy__(self, memo):
        new = Money(copy.deepcopy(self.amount, memo))
        memo[id(self)] = new
        return new
    def __bool__(self): return bool(self.amount)
    def __int__(self): return int(self.amount)
    def __float__(self): return float(self.amount)
    def __index__(self): return int(self)
    def __divmod__(self, n): return divmod(self.amount, n)
    def __floordiv__(self, n): return Money(self.amount // n)
    def __mod__(self, n): return self.amount % n
    def __pow__(self, n, mod=None): return pow(self.amount, n, mod)
    def __lshift__(self, line): self.log.append(line); return self
    def __contains__(self, x): return x in self.log
    def __call__(self, *a, **k): return a, k
    def __len__(self): return len(self.log)
    def __rsub__(self, other): return other - self.amount
    def __ror__(self, other): return f"{other}|{self.amount}"
    def __ceil__(self): return self.amount + 1
    def __trunc__(self): return self.amount
    def __missing__(self, k): return k


s = Slotted(1)
print(s.total(), s == Slotted(1), s != Slotted(2), hash(s) == hash(Slotted(1)), Slotted.__slots__)
for name in ("x", "__dict__", "__weakref__"):
    print(name, hasattr(s, name), end="; ")
try:
    s.x = 1
except AttributeError as e:
    print(e)
c = Child(2); c.d = 1; c.anything = 5
print(c.anything, c.total(), c == Slotted(2), [k for k in dir(c) if not k.startswith("_")])
del s.a
try:
    s.a
except AttributeError as e:
    print("AttributeError", e)

t = Tree("root", Tree("l"), Tree("r", Tree("rr")))
t2 = copy.deepcopy(t)
t2.kids[0].name = "changed"
print(t, t2, t2.kids[1].parent is t2, copy.copy(t).kids is t.kids)
m = Money(17)
m << "a" << "b"
n, o = copy.copy(m), copy.deepcopy(m)
print(n.log is m.log, o.log, int(m), float(m), [10, 20, 30][Money(1)], divmod(m, 5), m // 5 and (m // 5).amount, m % 5, pow(m, 2, 10), m ** 2)
print("a" in m, m(1, k=2), len(m), 20 - m, "x" | m, hex(m), range(Money(3)), "ab" * Money(2), bool(Money(0)))
import math
print(math.ceil(m), math.trunc(m), copy.deepcopy({"f": Fraction(1, 3), "s": {1, (2, 3)}, "n": None}))
l = [1, [2, 3]]
l2, l3 = l[:], copy.deepcopy(l)
l[1].append(4); l.append(l)
print(l2, l3, l, copy.deepcopy(l)[2][2][0], l is l[2])
a = b = []
b += [1]; b = b + [2]
print(a, b, a is b, a == b[:1], id(a) == id(b), sys.getsizeof([]) > 0)
