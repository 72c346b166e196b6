from __future__ import annotations
from collections.abc import Mapping, MutableSequence, Iterable, Set, Callable
from typing import Protocol, runtime_checkable, Generic, TypeVar, NamedTuple, Any
from collections import UserDict, UserList, namedtuple, ChainMap, deque

T = TypeVar("T", bound="Comparable")


@runtime_checkable
class Quacks(Protocol):
    def quack(self) -> str: ...


class Comparable(Protocol):
    def __lt__(self, other: Any) -> bool: ...


def biggest(items: Iterable[T]) -> T:
    it = iter(items)
    best = next(it)
    for x in it:
        if best < x:
            best = x
    return best


class Duck:
    def quack(self): return "Quack"


class Robot:
    quack: Callable[[], str]
    def __init__(self): self.quack = lambda: "beep"


class CaseInsensitive(UserDict):
    def __setitem__(self, k, v): self.data[k.lower()] = v
    def __getitem__(self, k): return self.data[k.lower()]
    def __contains__(self, k): return k.lower() in self.data


class Frozen(Mapping):
    def __init__(self, **kw): self._d = kw
    def __getitem__(self, k): return self._d[k]
    def __iter__(self): return iter(self._d)
    def __len__(self): return len(self._d)
    def __hash__(self): return hash(frozenset(self._d.items()))


class Bounded(MutableSequence):
    def __init__(self, limit, items=()):
        self._items, self.limit = deque(maxlen=limit), limit
        self.extend(items)
    def __getitem__(self, i): return self._items[i]
    def __setitem__(self, i, v): self._items[i] = v
    def __delitem__(self, i): del self._items[i]
    def __len__(self): return len(self._items)
    def insert(self, i, v):
        if len(self) == self.limit: self._items.popleft()
        self._items.insert(i, v)


class ListSet(Set):
    def __init__(self, items): self._e = [*dict.fromkeys(items)]
    def __iter__(self): return iter(self._e)
    def __contains__(self, x): return x in self._e
    def __len__(self): return len(self._e)


class Employee(NamedTuple):
    name: str
    id: int = 3
    def badge(self): return f"{self.id:04d}-{self.name}"


Point = namedtuple("Point", "x y", defaults=[0])


class Stack(Generic[T]):
    def __init__(self): self._items: list[T] = []
    def push(self, x: T) -> Stack[T]:
        self._items.append(x)
        return self


print(isinstance(Duck(), Quacks), isinstance(Robot(), Quacks), isinstance(3, Quacks), biggest("hello"), biggest([3, 9, 2]))
d = CaseInsensitive(Name="Ann"); d["AGE"] = 3
print(d, d["nAmE"], "age" in d, d.get("zip", "?"), dict(d.items()))
f = Frozen(a=1, b=2)
print(dict(f), f == {"a": 1, "b": 2}, {**f}, hash(f) == hash(Frozen(b=2, a=1)), f.keys() & {"a"}, "b" in f)
b = Bounded(3, [1, 2, 3, 4]); b += [5]; b.reverse(); b.remove(4)
print(list(b), b.index(5), 9 in b, b.pop(), len(b))
s = ListSet("hello") & ListSet("world")
print(sorted(s), ListSet([1]) <= ListSet([1, 2]), sorted(ListSet([1, 2]) ^ ListSet([2, 3])))
e = Employee("Ann")
print(e, e.badge(), e._replace(id=9), e._asdict(), Employee._fields, Employee._make(["Z", 1]), Employee._field_defaults)
print(Point(1), Point(1)._replace(y=5), Point._fields, *Point(3, 4), Point(1, 2) < Point(1, 3))
print(Stack[int]().push(1).push(2)._items, Stack[int], ChainMap({"a": 1}, {"a": 2, "b": 3})["b"])
try:
    f["z"] = 1
except TypeError as err:
    print(err)
