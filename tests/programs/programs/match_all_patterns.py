from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple
from collections import OrderedDict, deque


class Color(Enum):
    RED = 0
    BLUE = 1


@dataclass
class Point:
    x: int
    y: int


class P3(NamedTuple):
    x: int
    y: int
    z: int = 0


class Custom:
    __match_args__ = ("left", "right")
    def __init__(self, left, right): self.left, self.right = left, right


class Limits:
    LOW, HIGH = 0, 100


def describe(v):
    match v:
        case None: return "none"
        case True | False as b: return f"bool {b}"
        case Limits.LOW: return "low"
        case Limits.HIGH: return "high"
        case Color.RED | Color.BLUE: return f"color {v.name.lower()}"
        case int(n) if n < 0: return f"negative {n}"
        case int() | float(): return f"number {v}"
        case "": return "empty string"
        case "yes" | "no" as word: return f"answer {word}"
        case str() if v.isupper(): return "shouting"
        case str(s): return f"text of {len(s)}"
        case bytes() | bytearray(): return "bytes"
        case P3(x, y, z=0): return f"flat {x} {y}"
        case P3(): return "3d"
        case Point(x=0, y=0): return "origin"
        case Point(0, y) | Point(y, 0): return f"on an axis at {y}"
        case Point(x, y) if x == y: return f"diagonal {x}"
        case Point(): return "point"
        case Custom(left=Custom(left=inner), right=r): return f"nested {inner} {r}"
        case Custom(l, [r, *_]): return f"custom {l} {r}"
        case []: return "empty"
        case [x]: return f"one {x!r}"
        case [1, 2, *rest]: return f"starts 1 2 then {rest}"
        case [first, *_, last] if first == last: return f"bookends {first}"
        case ["move", ("north" | "south") as way, int(steps)]: return f"move {way} {steps}"
        case (a, (b, c)): return f"pair in pair {a} {b} {c}"
        case [_, _, *_]: return f"{len(v)} items"
        case {}if not v: return "empty mapping"
        case {"type": "circle", "r": r}: return f"circle {r}"
        case {"type": str(kind), **rest}: return f"{kind} with {rest}"
        case {1: one, -1: minus, None: nothing}: return f"keys {one} {minus} {nothing}"
        case {"a": {"b": [_, {"c": deep}]}}: return f"deep {deep}"
        case {**everything}: return f"mapping of {len(everything)}"
        case set() | frozenset(): return "set"
        case type(): return f"class {v.__name__}"
        case complex(real=re, imag=im): return f"complex {re} {im}"
        case object(__class__=cls): return f"other {cls.__name__}"


for v in [None, True, 0, 100, Color.BLUE, -5, 7, 2.5, "", "yes", "LOUD", "quiet", b"x", P3(1, 2), P3(1, 2, 3), Point(0, 0), Point(0, 4), Point(5, 0),
          Point(3, 3), Point(1, 2), Custom(Custom(1, 2), 3), Custom("l", [9, 8]), Custom(1, 2), [], (5,), [1, 2], [1, 2, 3, 4], "xyz", ["a", "b", "a"],
          ["move", "north", 3], ["move", "up", 3], (1, (2, 3)), range(4), deque([7, 8, 9]), {}, {"type": "circle", "r": 2}, {"type": "box", "w": 1, "h": 2},
          {1: "x", -1: "y", None: "z"}, {"a": {"b": [0, {"c": "!"}]}}, OrderedDict(q=1), {1, 2}, int, 1 + 2j, iter([]), lambda: 0, NotImplemented]:
    print(f"{v if not isinstance(v, (Custom, type(iter([])), type(lambda: 0))) else type(v).__name__!s:<45}" if not isinstance(v, (dict, set, list, range, deque, P3, Point, tuple, Color, type, type(None), complex, bytes)) else f"{v!r:<45}", describe(v))


def greedy(tokens):
    match tokens:
        case [("(" | "[") as o, *middle, (")" | "]") as c] if o + c in ("()", "[]"): return o, middle, c
        case [*_, "stop"]: return "stop"
        case [Point(x=a), Point(x=b)] | [a, b]: return a, b
    return None


print(greedy("( a b )".split()), greedy("( ]".split()), greedy(["x", "y", "stop"]), greedy([Point(1, 2), Point(3, 4)]), greedy([1, 2, 3]))
match = {"case": 1}; case = match["case"]; type = str
print(match, case, type(5), (lambda _: _)(3))
match 1, 2:
    case x, y if (total := x + y) > 2: print(x, y, total)
