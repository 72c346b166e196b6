# ruff: noqa
import timeit, inspect, traceback, functools, io
from dataclasses import dataclass

print(
    timeit.timeit("x+1", setup="x=1", number=10) > 0,
    timeit.timeit(lambda: 1, number=5) > 0,
    len(timeit.repeat("pass", number=3, repeat=4)),
)
print(
    timeit.timeit("f(2)", globals={"f": lambda x: x}, number=3) > 0,
    timeit.Timer("for i in range(3):\n  pass").timeit(2) > 0,
)


def f(a, b: int = 3, *args, c, d="x", **kw) -> str:
    """Doc of f.

    indented
    """


def g(a, /, b):
    pass


class C:
    """Doc C"""

    def __init__(self, x, y=2):
        pass

    def m(self, q):
        "doc m"

    @classmethod
    def k(cls, r):
        pass

    @staticmethod
    def s(t):
        pass

    def __call__(self, z):
        pass


class D(C):
    def m(self, q):
        pass


@dataclass
class P:
    x: int
    y: float = 1.5


def deco(fn):
    @functools.wraps(fn)
    def w(*a, **k):
        return fn(*a, **k)

    return w


@deco
def wrapped(p, q=1):
    pass


for o in (
    f,
    g,
    C,
    C(1).m,
    C.m,
    C.k,
    C.s,
    C(1),
    P,
    wrapped,
    functools.partial(f, 1, c=2),
    len,
    sorted,
    "".join,
    str.join,
    lambda: 0,
    object,
    dict.get,
    {}.get,
    isinstance,
    D,
    C(1).k,
    print,
    divmod,
):
    try:
        print(inspect.signature(o))
    except Exception as e:
        print(type(e).__name__)
s = inspect.signature(f)
print(
    [
        (p.name, p.kind.name, p.default is inspect.Parameter.empty, p.annotation)
        for p in s.parameters.values()
    ],
    s.return_annotation,
)
print(s.bind(1, c=2).arguments, s.replace(return_annotation=int))
print(
    inspect.getdoc(f),
    inspect.getdoc(D),
    inspect.getdoc(D().m if 0 else D(1).m),
    repr(inspect.cleandoc("  a\n    b")),
)


def gen():
    yield


async def co():
    pass


c = co()
print(
    [
        fn(x)
        for fn in (
            inspect.isfunction,
            inspect.isclass,
            inspect.ismethod,
            inspect.isgenerator,
            inspect.isgeneratorfunction,
            inspect.iscoroutine,
            inspect.iscoroutinefunction,
            inspect.isbuiltin,
            inspect.isroutine,
        )
        for x in (f, C, C(1).m, gen(), gen, c, co, len, 3)
    ]
)
c.close()
print([n for n, _ in inspect.getmembers(C, inspect.isfunction)])


def deep(n):
    if n:
        deep(n - 1)
    else:
        raise ValueError("deep")


try:
    deep(2)
except ValueError as e:
    print(traceback.format_exc())
    print(
        traceback.format_exception(e) == traceback.format_exc().splitlines(True),
        traceback.format_exception_only(e),
        traceback.format_exception_only(type(e), e),
    )
    o = io.StringIO()
    traceback.print_exc(file=o)
    print(o.getvalue())
    traceback.print_exception(e, file=o, chain=False)
    print("".join(traceback.format_exception(type(e), e, None))[-20:])
try:
    try:
        1 / 0
    except ZeroDivisionError:
        {}["a"]
except KeyError as e:
    print("".join(traceback.format_exception(e)))
    print("".join(traceback.format_exception(e, chain=False)))
print(traceback.format_exc())
