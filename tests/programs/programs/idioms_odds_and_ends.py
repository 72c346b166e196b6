"""Things people type that are not in any tutorial chapter."""
__author__ = "somebody"
__version__ = "0.1"
__all__ = ["main"]
_private, __dunderless = 1, 2
import string, itertools as it, collections as c, math as _math
from operator import *
from collections.abc import *

a, (b, *cs), d = 1, [2, 3, 4], {"k": 5}
a, b = b, a
x = y = z = []
x.append(1); z += [2]
print(a, b, cs, d, y, _private, __dunderless, __name__, __author__, __doc__[:6])
i = 0
l = [0, 1, 2]
i, l[i] = 1, "set"
print(i, l, l[-1:0:-1], l[::2], [*l, *"ab"], {**d, "k": 6, **{"z": 0}}, (lambda *a, **k: (a, k))(*l, **d))
if (n := len(l)) > 2: print(f"{n=} {n:>5} {n!r:^7} {n + 1 = } {'nested ' + str(n)} {l[0]!s:.2} {{}} {n:{n}} {'a' if n else 'b'}")
print(1 < 2 < 3 != 4 > 3, 1 in [1] == True, not 1 == 2, 5 if [] else 6, None or 0 or "x", "a" and "b", ~0, -2 ** 2, 2 ** 3 ** 2, 7 // 2 * 2, 3 - -3)
del l[1:], d["k"]
print(l, d, end="\n\n"); print(*range(3), sep=",", end=";\n")
for k in range(3):
    if k == 5: break
else: print("no break", k)
while i < 3:
    i += 1
    if i == 2: continue
    try: pass
    finally: print("f", i, end=" ")
print()
def outer():
    v = 1
    def inner():
        nonlocal v
        v += 1
        class Local:
            v = 10
            def get(self): return v
        return Local().get(), Local.v
    return inner(), v
print(outer())
def f(a, *, b=[], _c=lambda x=a: x, **_kw): b.append(a); return len(b), _c(), sorted(_kw)
print(f(1), f(2, z=1), f.__kwdefaults__["b"], f.__name__)
class Weird:
    """Class bodies are code."""
    squares = {n: n * n for n in range(4)}
    if 3 in squares:
        def method(self): return "big"
    else:
        def method(self): return "small"
    try: 1 / 0
    except ZeroDivisionError as e: error = str(e)
    for letter in "ab": pass
    with_default = [*squares.values()]
    _hidden = __mangled = 5
    print("in the body", letter, _hidden, __qualname__)
    def __getitem__(self, k): return k
    def __contains__(self, k): return True
    __call__ = lambda self, *a: a
    @property
    def p(self): return self.__mangled
w = Weird()
print(w.method(), w.error, w[1:2, ..., None], "x" in w, w(1), w.p, Weird._Weird__mangled, hasattr(w, "_hidden"), Weird.__doc__, sorted(k for k in vars(Weird) if k[0] != "_"))
print("%s %r %5.1f%% %-4d| %x" % ("s", "r", 99.5, 7, 255), "con" "cat" 'enate', r"\n", b"\x41", """multi
line""", 'it''s', "\u00e9\N{SNOWMAN}\t|", 0xFF, 0b11, 1e3, 1_0, 3j, ..., sep="\n")
print(sorted("bAc", key=str.lower), max("apple", "fig", key=len), sum([[1], [2]], []), list(zip(*[(1, 2), (3, 4)])), dict(a=1) | {"b": 2}, {1, 2} ^ {2, 3}, [1] * 3, "ab" * 2)
print(list(map(int, "123")), any(ch.isdigit() for ch in "a1"), [(i, j) for i in range(3) for j in range(i)], {k: v for v, k in enumerate("ab")}, type(()), type(lambda: 0).__name__, isinstance(True, int))
g = (q for q in "xyz"); print(next(g), [*g], next(g, "done"), string.ascii_lowercase[:3], c.Counter("hello").most_common(1), list(it.islice(it.count(5, 5), 3)), _math.tau > 6)
assert isinstance([], Sequence) and issubclass(dict, Mapping), "never"
print(add(1, 2), itemgetter(1)("ab"), concat([1], [2]), contains("abc", "b"), globals_free := "x", [].__len__(), (5).__add__(3), "a".__class__.__name__, int.__doc__[:3])
try: exit("leaving")
except SystemExit as e: print("exit:", e.code)
def main(): return [print("main ran"), 0][1]
if __name__ == "__main__": main()
