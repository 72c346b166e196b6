from enum import Enum, IntEnum, Flag, IntFlag, StrEnum, auto, unique


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3
    CRIMSON = 1

    @classmethod
    def _missing_(cls, value):
        if isinstance(value, str):
            return cls.__members__.get(value.upper())
        return None

    def mix(self, other): return Color((self.value + other.value) % 3 + 1)

    @property
    def pretty(self): return self.name.capitalize()


class Planet(Enum):
    MERCURY = (3.303e+23, 2.4397e6)
    EARTH = (5.976e+24, 6.37814e6)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    @property
    def gravity(self): return 6.67300E-11 * self.mass / (self.radius ** 2)


class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W


class Level(IntEnum):
    LOW = 10
    HIGH = 20

    def __str__(self): return f"level {self.name.lower()}"


class Suit(StrEnum):
    HEARTS = auto()
    SPADES = auto()


class Weekday(Enum):
    def _generate_next_value_(name, start, count, last):
        return name[:3].title()
    MONDAY = auto()
    TUESDAY = auto()


class Coord(bytes, Enum):
    def __new__(cls, value, label, unit):
        obj = bytes.__new__(cls, [value])
        obj._value_ = value
        obj.label = label
        obj.unit = unit
        return obj
    PX = (0, "P.X", "km")
    PY = (1, "P.Y", "km")


print(Color.RED, repr(Color.CRIMSON), Color("green"), Color(3), Color["BLUE"], list(Color), len(Color))
print(Color.RED is Color.CRIMSON, Color.RED.mix(Color.GREEN), Color.BLUE.pretty, Color.RED == 1, Color.__members__.keys())
for bad in (lambda: Color("mauve"), lambda: Color["PINK"], lambda: Color.RED < Color.BLUE, lambda: setattr(Color, "RED", 5)):
    try:
        bad()
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        print(type(e).__name__, e)
print([f"{p.name} {p.gravity:.2f}" for p in Planet])
p = Perm.R | Perm.X
print(p, Perm.W in p, ~p, Perm.RW & p, Perm.RW, bool(p & Perm.W), Perm(5) == p, list(Perm.RW))
print(Level.HIGH > Level.LOW, Level.LOW + 1, Level.HIGH, f"{Level.LOW:>4d}", sorted(Level, reverse=True), [0] * Level.LOW == [0] * 10)
print(Suit.HEARTS, Suit.SPADES.upper(), Suit("hearts") is Suit.HEARTS, f"{Suit.HEARTS:>8}", [d.value for d in Weekday])
print(Coord.PY, Coord.PY.label, Coord.PY.value, Coord(0).unit)
Animal = Enum("Animal", "ANT BEE CAT", start=0)
Size = IntFlag("Size", {"S": 1, "M": 2, "L": 4})
print(list(Animal), Animal.BEE.value, Size.S | Size.L, Size.M.name, {Animal.ANT: "small"}[Animal(0)])
try:
    @unique
    class Dup(Enum):
        A = 1
        B = 1
except ValueError as e:
    print(e)
match Color.BLUE:
    case Color.RED | Color.GREEN: print("warm?")
    case Color.BLUE: print("blue")
print(Color._member_names_, Color.RED._value_, Color._value2member_map_[2].name, Color.RED.__class__.__name__)
