from dataclasses import dataclass, field, replace, asdict, astuple, fields, FrozenInstanceError, KW_ONLY, InitVar
from typing import ClassVar
import copy


@dataclass(order=True)
class Version:
    major: int
    minor: int = 0
    patch: int = 0

    @classmethod
    def parse(cls, s): return cls(*map(int, s.split(".")))

    def __str__(self): return ".".join(map(str, astuple(self)))


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float = 0.0

    def __add__(self, o): return Point(self.x + o.x, self.y + o.y)


@dataclass
class Item:
    name: str
    price: float
    qty: int = 1
    tags: list[str] = field(default_factory=list, repr=False)
    _: KW_ONLY
    sku: str = field(default="none", compare=False)
    discount: InitVar[float] = 0.0
    total: float = field(init=False)
    currency: ClassVar[str] = "EUR"

    def __post_init__(self, discount):
        if self.price < 0:
            raise ValueError("negative price")
        self.total = self.price * self.qty * (1 - discount)


@dataclass
class Inventory:
    items: dict[str, Item] = field(default_factory=dict)
    origin: Point = Point(1)

    def add(self, item):
        self.items[item.name] = item
        return self


@dataclass(eq=False)
class Base:
    id: int


@dataclass
class Derived(Base):
    name: str = "x"

    def __hash__(self): return hash(self.id)


vs = sorted(map(Version.parse, ["1.10.0", "1.2.9", "0.9", "1.2.10"]))
print(*vs, vs[0] < Version(1), max(vs), repr(vs[0]))
p = Point(1, 2)
print(p, p + Point(1), replace(p, y=9), hash(p) == hash(Point(1, 2)), {p: "here"}[Point(1.0, 2)])
for bad in (lambda: setattr(p, "x", 5), lambda: Item("x", -1), lambda: Item(), lambda: Item("a", 1, 1, [], "sku")):
    try:
        bad()
    except FrozenInstanceError as e:
        print("frozen:", e)
    except (ValueError, TypeError) as e:
        print(type(e).__name__, e)
try:
    p.z = 1
except (AttributeError, TypeError) as e:
    print("slots:", type(e).__name__)
i = Item("pen", 2.5, 4, ["blue"], sku="P1", discount=0.1)
print(i, i == Item("pen", 2.5, 4, ["blue"], discount=0.1), i.currency, Item.currency)
inv = Inventory().add(i).add(Item("ink", 10))
print(asdict(inv))
twin = copy.deepcopy(inv)
twin.items["pen"].tags.append("new")
print(inv.items["pen"].tags, twin == inv, copy.copy(i).tags is i.tags)
print([(f.name, getattr(f.type, "__name__", f.type), f.init) for f in fields(Item)][:3], len(fields(i)))
print(Derived(1), Derived(1) == Derived(1), len({Derived(1)}), Version.__match_args__, Version.__doc__)
match i:
    case Item(name="pen", qty=q) if q > 3:
        print("many pens", q)
