# Pratt parser that compiles to closures and pretty prints.
import re
from dataclasses import dataclass
import operator

TOKEN = re.compile(r"\s*(?:(?P<num>\d+\.?\d*)|(?P<name>[^\W\d]\w*)|(?P<op>==|!=|<=|>=|&&|\|\||[-+*/<>!?:(),]))")


@dataclass(frozen=True)
class Node:
    op: str
    args: tuple = ()

    def __str__(self):
        match self:
            case Node("num" | "name", (x,)): return str(x)
            case Node("call", (f, *args)): return f"{f}({', '.join(map(str, args))})"
            case Node("?:", (c, a, b)): return f"({c} ? {a} : {b})"
            case Node(op, (x,)): return f"{op}{x}"
            case Node(op, (a, b)): return f"({a} {op} {b})"


class Scanner:
    def __init__(self, text):
        self.items, pos = [], 0
        text = text.rstrip()
        while pos < len(text):
            m = TOKEN.match(text, pos)
            if m is None:
                raise SyntaxError("bad character", ("<expr>", 1, pos + 1, text))
            self.items.append((m.lastgroup, m[m.lastgroup]))
            pos = m.end()
        self.items.append(("end", ""))
        self.items.reverse()

    @property
    def peek(self): return self.items[-1]
    def next(self): return self.items.pop()

    def expect(self, text):
        if (got := self.next()[1]) != text:
            raise SyntaxError(f"expected {text!r} but got {got!r}")


POWERS = {"?": (1, 0), "||": (2, 3), "&&": (4, 5), **dict.fromkeys(["==", "!="], (6, 7)),
          **dict.fromkeys("< > <= >=".split(), (8, 9)), "+": (10, 11), "-": (10, 11), "*": (12, 13), "/": (12, 13), "(": (20, 0)}


def parse(s, least=0):
    match s.next():
        case ("num", n): left = Node("num", (float(n) if "." in n else int(n),))
        case ("name", n): left = Node("name", (n,))
        case ("op", ("-" | "!") as o): left = Node(o, (parse(s, 15),))
        case ("op", "("):
            left = parse(s)
            s.expect(")")
        case (_, text): raise SyntaxError(f"unexpected {text!r}" if text else "unexpected end")
    while (power := POWERS.get(s.peek[1])) and power[0] >= least:
        o = s.next()[1]
        if o == "?":
            a = parse(s); s.expect(":")
            left = Node("?:", (left, a, parse(s, 1)))
        elif o == "(":
            args = []
            while s.peek[1] != ")":
                args.append(parse(s))
                if s.peek[1] == ",": s.next()
            s.next()
            left = Node("call", (left, *args))
        else:
            left = Node(o, (left, parse(s, power[1])))
    return left


OPS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "==": operator.eq, "!=": operator.ne,
       "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}


def build(node):
    match node:
        case Node("num", (x,)): return lambda env: x
        case Node("name", (n,)): return lambda env: env[n]
        case Node("-", (x,)): f = build(x); return lambda env: -f(env)
        case Node("!", (x,)): f = build(x); return lambda env: not f(env)
        case Node("&&", (a, b)): f, g = build(a), build(b); return lambda env: f(env) and g(env)
        case Node("||", (a, b)): f, g = build(a), build(b); return lambda env: f(env) or g(env)
        case Node("?:", args): c, a, b = map(build, args); return lambda env: a(env) if c(env) else b(env)
        case Node("call", (f, *args)): fs = [*map(build, (f, *args))]; return lambda env: (v := [g(env) for g in fs])[0](*v[1:])
        case Node(o, (a, b)) if o in OPS: f, g, h = build(a), build(b), OPS[o]; return lambda env: h(f(env), g(env))
    raise NotImplementedError(node)


env = {"x": 3, "y": 4, "max": max, "square": lambda v: v ** 2}
for text in ["1 + 2 * x - -y", "(1 + 2) * x == 9 && !(y < 4)", "x > y ? x : y * 10", "max(x, square(y), 5) / 2", "x ? y ? 1 : 2 : 3",
             "1 <= 2 == 1", "", "1 +", "(2", "1 2", "a + 1", "4 # 4", "max(1"]:
    try:
        s = Scanner(text)
        tree = parse(s)
        if s.peek[0] != "end": raise SyntaxError(f"trailing {s.peek[1]!r}")
        print(f"{tree} => {build(tree)(env)}")
    except SyntaxError as e: print(repr(text), "->", e, e.offset)
    except KeyError as e: print(repr(text), "-> unknown", e)
print(parse(Scanner("a+b")) == Node("+", (Node("name", ("a",)), Node("name", ("b",)))), len({Node("x"), Node("x")}))
