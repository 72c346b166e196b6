from __future__ import annotations

import dataclasses as dc
import enum
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import (TYPE_CHECKING, Annotated, Any, ClassVar, Concatenate, Final, Generic, Literal, NamedTuple, NewType, NoReturn,
                    Optional, ParamSpec, Protocol, Self, TypeAlias, TypedDict, TypeGuard, TypeVar, Union, assert_never, cast,
                    final, get_args, get_origin, overload, runtime_checkable, NotRequired, Required, Unpack, TypeVarTuple)

if TYPE_CHECKING:
    from numpy import ndarray

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", covariant=False)
P = ParamSpec("P")
Ts = TypeVarTuple("Ts")
Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
UserId = NewType("UserId", int)
Mode = Literal["r", "w", "rw"]
Positive = Annotated[int, "greater than zero"]
MAX: Final = 10
Handler = Callable[Concatenate[int, P], Awaitable[V]]


class Movie(TypedDict, total=False):
    title: Required[str]
    year: int
    rating: NotRequired[float]


class Pair(NamedTuple, Generic[K, V]):
    key: K
    value: V | None = None


@runtime_checkable
class SupportsClose(Protocol):
    def close(self) -> None: ...


@dc.dataclass(slots=True, kw_only=True)
class Page(Generic[V]):
    items: Sequence[V]
    number: int = 1
    total: ClassVar[int] = 0

    def map(self, f: Callable[[V], K]) -> Page[K]: return Page(items=[f(x) for x in self.items], number=self.number)


class Repo(ABC, Generic[K, V]):
    def __init__(self) -> None: self._rows: dict[K, V] = {}
    @abstractmethod
    def key_of(self, value: V) -> K: ...
    def add(self, value: V) -> Self: self._rows[self.key_of(value)] = value; return self
    def __getitem__(self, key: K) -> V: return self._rows[key]
    def find(self, test: Callable[[V], bool]) -> Iterator[V]: return (v for v in self._rows.values() if test(v))


@final
class Movies(Repo[str, Movie]):
    def key_of(self, value: Movie) -> str: return value["title"]
    def close(self) -> None: self._rows.clear()


class Shape(enum.Enum):
    CIRCLE = "c"
    SQUARE = "s"


def area(s: Shape, size: float) -> float:
    if s is Shape.CIRCLE: return round(3.14159 * size ** 2, 2)
    elif s is Shape.SQUARE: return size ** 2
    assert_never(s)


def is_strings(xs: list[object]) -> TypeGuard[list[str]]: return all(isinstance(x, str) for x in xs)
def logged(f: Callable[P, V]) -> Callable[P, V]:
    def inner(*args: P.args, **kwargs: P.kwargs) -> V:
        print("calling", f.__name__, args, kwargs)
        return f(*args, **kwargs)
    return inner


@overload
def double(x: int) -> int: ...
@overload
def double(x: str) -> str: ...
@logged
def double(x): return x * 2
def first(xs: Iterable[V], default: Optional[V] = None) -> V | None: return next(iter(xs), default)
def group(pairs: Iterable[tuple[K, V]]) -> Mapping[K, list[V]]:
    out: defaultdict[K, list[V]] = defaultdict(list)
    for k, v in pairs: out[k].append(v)
    return dict(out)
def plot(data: ndarray) -> NoReturn: raise NotImplementedError
def spread(*args: Unpack[Ts]) -> tuple[Unpack[Ts]]: return args


m: Movie = {"title": "Up", "year": 2009}
repo = Movies().add(m).add(Movie(title="Heat", rating=8.3))
print(repo["Up"], [x["title"] for x in repo.find(lambda x: x.get("year", 0) > 2000)], Movie.__required_keys__, Movie.__total__)
print(Pair("a", 1), Pair[str, int]("b"), Page(items=[1, 2]).map(str), isinstance(repo, SupportsClose), isinstance(3, SupportsClose))
print(double(4), double("ab"), area(Shape.CIRCLE, 2), is_strings(["a"]), first([], 9), group([("a", 1), ("b", 2), ("a", 3)]), UserId(5) + 1)
print(get_origin(dict[str, int]), get_args(dict[str, int]), get_args(Mode), get_origin(Optional[int]) is Union, Union[int, str, int], int | None, list[V][int])
print(Positive, Positive.__metadata__, K.__bound__, Callable[[int], str], double.__name__, plot.__annotations__, Movies.__orig_bases__, K, Repo.__parameters__)
print(cast(int, "still a string"), spread(1, "a"), Literal["a"] == Literal["a"], Movies.__final__, UserId.__supertype__, isinstance(1, int | str))
try: Repo()
except TypeError as e: print(e)
try: isinstance([], list[int])
except TypeError as e: print(e)
