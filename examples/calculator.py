"""A calculator language: a tokenizer, a parser into a tree, and `match` to evaluate it."""

import operator
import re
from dataclasses import dataclass

TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[a-z]+)|(?P<sign>[-+*/^()=]))")


@dataclass
class Number:
    value: float


@dataclass
class Name:
    name: str


@dataclass
class Binary:
    sign: str
    left: "Tree"
    right: "Tree"


@dataclass
class Negative:
    operand: "Tree"


@dataclass
class Let:
    name: str
    value: "Tree"


Tree = Number | Name | Binary | Negative | Let

OPERATIONS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
}
BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}


def tokens(text: str):
    position = 0
    while position < len(text.rstrip()):
        found = TOKEN.match(text, position)
        if not found:
            raise SyntaxError(f"at {position}: {text[position:]!r}")
        position = found.end()
        yield found.lastgroup, found[found.lastgroup]
    yield "end", ""


class Parser:
    def __init__(self, text: str):
        self._tokens = list(tokens(text))
        self._at = 0

    def next(self) -> tuple[str, str]:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def peek(self) -> str:
        return self._tokens[self._at][1]

    def statement(self) -> Tree:
        match self._tokens:
            case [("name", name), ("sign", "="), *_]:
                self._at = 2
                tree: Tree = Let(name, self.expression())
            case _:
                tree = self.expression()
        if self._at != len(self._tokens) - 1:
            raise SyntaxError(f"not expected: {self.peek()!r}")
        return tree

    def expression(self, least: int = 1) -> Tree:
        left = self.operand()
        while BINDING.get(self.peek(), 0) >= least:
            _, sign = self.next()
            # Powers are right-associative, everything else is left-associative.
            right = self.expression(BINDING[sign] + (sign != "^"))
            left = Binary(sign, left, right)
        return left

    def operand(self) -> Tree:
        match self.next():
            case "number", digits:
                return Number(float(digits))
            case "name", name:
                return Name(name)
            case "sign", "-":
                return Negative(self.expression(3))
            case "sign", "(":
                inside = self.expression()
                if self.next() != ("sign", ")"):
                    raise SyntaxError("a bracket is not closed")
                return inside
            case _, other:
                raise SyntaxError(f"not expected: {other!r}")


def evaluate(tree: Tree, names: dict[str, float]) -> float:
    match tree:
        case Number(value=value):
            return value
        case Name(name=name) if name in names:
            return names[name]
        case Name(name=name):
            raise NameError(f"nothing is called {name}")
        case Negative(operand=operand):
            return -evaluate(operand, names)
        case Binary(sign=sign, left=left, right=right):
            return OPERATIONS[sign](evaluate(left, names), evaluate(right, names))
        case Let(name=name, value=value):
            names[name] = evaluate(value, names)
            return names[name]
    raise TypeError(tree)


PROGRAM = """
1 + 2 * 3
(1 + 2) * 3
2 ^ 3 ^ 2
-2 ^ 2
x = 10 / 4
y = x * x - 1
y / (x - 2.5)
z + 1
2 * (3 + 4
10 - 4 - 3
4 $ 5
"""

known: dict[str, float] = {}
for line in PROGRAM.strip().splitlines():
    try:
        answer = f"{evaluate(Parser(line).statement(), known):g}"
    except (SyntaxError, NameError, ZeroDivisionError) as problem:
        answer = f"{type(problem).__name__}: {problem}"
    print(f"{line:<14} -> {answer}")
