import json

WS = " \t\n\r"
ESC = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class ParseError(ValueError):
    pass


class Parser:
    __slots__ = ("_s", "_i", "depth")

    def __init__(self, s):
        self._s, self._i, self.depth = s, 0, 0

    def fail(self, why): raise ParseError(f"{why} at {self._i}")

    def peek(self):
        while self._i < len(self._s) and self._s[self._i] in WS:
            self._i += 1
        return self._s[self._i:self._i + 1]

    def eat(self, literal):
        if not self._s.startswith(literal, self._i):
            self.fail(f"expected {literal!r}")
        self._i += len(literal)

    def value(self):
        match self.peek():
            case "{": return self.members()
            case "[": return self.items()
            case '"': return self.string()
            case "t": self.eat("true"); return True
            case "f": self.eat("false"); return False
            case "n": self.eat("null")
            case c if c and c in "-0123456789": return self.number()
            case "": self.fail("unexpected end")
            case other: self.fail(f"unexpected {other!r}")

    def items(self):
        self.eat("[")
        out = []
        if self.peek() == "]":
            self.eat("]")
            return out
        while True:
            out.append(self.value())
            if self.peek() != ",": break
            self.eat(",")
        self.eat("]")
        return out

    def members(self):
        self.eat("{")
        out = {}
        while self.peek() != "}":
            if out: self.eat(","); self.peek()
            key = self.string()
            self.peek(); self.eat(":")
            out[key] = self.value()
        self.eat("}")
        return out

    def string(self):
        self.eat('"')
        chars = []
        while (c := self._s[self._i:self._i + 1]) != '"':
            if not c or c < " ": self.fail("bad string")
            self._i += 1
            if c == "\\":
                e = self._s[self._i]; self._i += 1
                if e == "u":
                    c = chr(int(self._s[self._i:self._i + 4], 16)); self._i += 4
                elif e in ESC: c = ESC[e]
                else: self.fail("bad escape")
            chars.append(c)
        self.eat('"')
        return "".join(chars)

    def number(self):
        start = self._i
        while self._i < len(self._s) and self._s[self._i] in "+-0123456789.eE": self._i += 1
        text = self._s[start:self._i]
        try:
            return int(text)
        except ValueError:
            return float(text)


def loads(s):
    p = Parser(s)
    v = p.value()
    if p.peek():
        p.fail("extra data")
    return v


def dumps(v):
    match v:
        case None: return "null"
        case True | False: return str(v).lower()
        case int() | float(): return repr(v)
        case str(): return '"' + "".join(f"\\{c}" if c in '"\\' else c if c >= " " else f"\\u{ord(c):04x}" for c in v) + '"'
        case [*items]: return "[" + ", ".join(map(dumps, items)) + "]"
        case {**pairs}: return "{" + ", ".join(f"{dumps(str(k))}: {dumps(x)}" for k, x in pairs.items()) + "}"
    raise TypeError(type(v).__name__)


for text in ['{"a": [1, -2.5e3, true, null], "b": {"c": "x\\n\\u00e9\\"y"}, "": []}', "[]", " 12 ", '"\\q"', "[1,", "{1}", "tru", "[1] 2", "@", ""]:
    try:
        v = loads(text)
        print(v, dumps(v) == json.dumps(v, ensure_ascii=False), v == json.loads(text))
    except ParseError as e:
        print(f"{text!r}: {e}")
try: dumps({1: {2}})
except TypeError as e: print("TypeError", e)
print(dumps({"a": (1, "\x01"), 3: False}))
