# ruff: noqa
print(eval("1+2"), eval(" x+1", {"x": 4}), eval("y*2", {}, {"y": 3}))
x = 5


def f(a):
    b = 2
    print(eval("a+b+x"), sorted(locals()), locals()["a"])
    exec("b = 10; c = 3")
    print(b)
    return [eval("x", {"x": i}) for i in range(3)]


print(f(1))
exec("z = 7\ndef g(n): return 1 if n < 2 else n*g(n-1)")
print(z, g(5), globals()["z"], "g" in globals())
ns = {}
exec(
    "def h(n): return 1 if n < 2 else n*h(n-1)\nclass A:\n    def __init__(self): self.q = 4\n", ns
)
print(ns["h"](5), ns["A"]().q, sorted(k for k in ns if k[0] != "_"))
exec("w = h(3)", ns)
print(ns["w"])
globals()["dyn"] = 8
print(dyn)
c = compile("dyn + 1", "<x>", "eval")
print(eval(c), repr(c)[:22])
exec(compile("for i in range(2): print(i)", "f", "exec"))
exec(compile("1+1", "<stdin>", "single"))
for bad in ("1+", "import os", "@"):
    try:
        eval(bad)
    except SyntaxError as error:
        print(error.msg)
try:
    eval("len('x')", {"__builtins__": {}})
except NameError as e:
    print(e)
print(eval("abs(-1)", {"__builtins__": {"abs": abs}}), eval("1+1", {"__builtins__": None}))
import timeit

timeit.timeit("f2()", globals={"f2": lambda: 0}, number=1)


def f3():
    return 3


print(timeit.timeit("f3()", globals=globals(), number=1) > 0)


class C:
    k = 3
    exec("m = k + 1")
    print(sorted(n for n in locals() if n[0] != "_"), sorted(n for n in vars() if n[0] != "_"))
    locals()["n"] = 1


print(C.m, C.n)
print("%(x)s {x}" % globals(), "{x}".format(**globals()))
from dataclasses import dataclass

exec("from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int = 1\nprint(P(2))", {})
print(list(map(eval, ["1", "x"])))
try:
    exec("raise ValueError('v')")
except ValueError as e:
    print(e)
exec("def r(n): return n and eval('r(n-1)')")
print(r(20))


def bomb():
    exec("bomb()")


try:
    bomb()
except RecursionError as e:
    print("rec")
exec("print(__name__ == '__main__')", {"__name__": "__main__"})
exec("print(__name__ == '__main__')", {})
