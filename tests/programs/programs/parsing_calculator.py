"""Recursive descent calculator: + - * / % ^ unary, functions, variables, comparison."""
import math
import operator
import re
from typing import NamedTuple


class CalcError(Exception):
    def __init__(self, message, pos=None):
        super().__init__(message if pos is None else f"{message} at {pos}")
        self.pos = pos


class Token(NamedTuple):
    kind: str
    text: str
    pos: int


def tokenize(source):
    spec = [("NUM", r"\d+(\.\d*)?"), ("NAME", r"[a-z_]\w*"), ("OP", r"\*\*|[-+*/%^()=,]"), ("WS", r"\s+"), ("BAD", r".")]
    for m in re.finditer("|".join(f"(?P<{n}>{p})" for n, p in spec), source):
        if m.lastgroup == "BAD":
            raise CalcError(f"unexpected {m.group()!r}", m.start())
        if m.lastgroup != "WS":
            yield Token(m.lastgroup, m.group(), m.start())
    yield Token("END", "", len(source))


class Calculator:
    functions = {"sqrt": math.sqrt, "max": max, "min": min, "abs": abs, "sum": lambda *a: sum(a)}
    _binary = [{"+": operator.add, "-": operator.sub}, {"*": operator.mul, "/": operator.truediv, "%": operator.mod}]

    def __init__(self, **names):
        self.names = {"pi": math.pi, **names}

    def __call__(self, text):
        self._tokens = list(tokenize(text))
        self._i = 0
        value = self._statement()
        if self._peek.kind != "END":
            raise CalcError(f"unexpected {self._peek.text!r}", self._peek.pos)
        self.names["_"] = value
        return value

    @property
    def _peek(self): return self._tokens[self._i]

    def _accept(self, *texts):
        if self._peek.text in texts and self._peek.kind != "END":
            self._i += 1
            return self._tokens[self._i - 1].text

    def _expect(self, text):
        if not self._accept(text):
            raise CalcError(f"expected {text!r}", self._peek.pos)

    def _statement(self):
        if self._peek.kind == "NAME" and self._tokens[self._i + 1].text == "=":
            name = self._peek.text
            self._i += 2
            self.names[name] = value = self._level(0)
            return value
        return self._level(0)

    def _level(self, n):
        if n == len(self._binary):
            return self._unary()
        value = self._level(n + 1)
        while op := self._accept(*self._binary[n]):
            value = self._binary[n][op](value, self._level(n + 1))
        return value

    def _unary(self):
        if self._accept("-"):
            return -self._unary()
        base = self._atom()
        return base ** self._unary() if self._accept("^", "**") else base

    def _atom(self):
        if self._accept("("):
            value = self._level(0)
            self._expect(")")
            return value
        kind, text, pos = self._peek
        self._i += kind != "END"
        match kind:
            case "NUM": return float(text) if "." in text else int(text)
            case "NAME" if self._accept("("):
                args = []
                while not self._accept(")"):
                    args.append(self._level(0))
                    self._accept(",")
                if text not in self.functions:
                    raise CalcError(f"no function {text}", pos)
                return self.functions[text](*args)
            case "NAME":
                try:
                    return self.names[text]
                except KeyError:
                    raise CalcError(f"no variable {text}", pos) from None
        raise CalcError(f"unexpected {text or 'end'!r}", pos)


calc = Calculator(x=10)
for line in ["1 + 2 * 3", "(1+2)*3", "-2 ^ 2", "2 ^ 3 ^ 2", "10 / 4", "7 % 4 - -1", "y = x * 2", "y + _", "sqrt(16) + max(1, 2, y)",
             "1 +", "2 $ 3", "foo", "bar(1)", "(1", "1 / 0", "sqrt(-1)", "3 4", "1.5 * pi", ""]:
    try:
        print(f"{line:<25} = {calc(line):g}")
    except CalcError as e:
        print(f"{line:<25} ! {e} {e.pos} {e.__suppress_context__}")
    except ArithmeticError as e: print(f"{line:<25} ! {type(e).__name__}: {e}")
    except ValueError as e: print(f"{line:<25} ! {e}")
