import asyncio
import inspect
import string
import sys
import types
import typing
import unittest
from types import TracebackType


def f(a, b=1, *args, c: int = 2, **kw) -> str:
    "doc"
    return a


class K:
    x: "int" = 1

    def m(self):
        return 1


print(inspect.getfullargspec(f)[:6])
print(inspect.getmro(K))
print(typing.get_type_hints(K), typing.get_type_hints(f))


def g(x: "list[K] | None", y: "int | None" = None): ...


print(typing.get_type_hints(g))
print(
    sys.path[:0],
    "math" in sys.modules,
    sys.modules[__name__].f is f,
    sys.modules["__main__"].K,
    sys.executable is not None,
)
print(
    getattr(sys.modules[__name__], "K"),
    [n for n, c in inspect.getmembers(sys.modules[__name__], inspect.isclass)],
)
setattr(sys.modules[__name__], "zz", 5)
print(zz)  # noqa: F821
try:
    1 / 0
except ZeroDivisionError:
    print(sys.exc_info()[0].__name__)
print(
    string.Formatter().format("{0} {name!r:>5} {2[0]}", 1, 2, [3], name="x"),
    string.Formatter().vformat("{}-{}", (1, 2), {}),
)


class D(string.Formatter):
    def get_value(self, key, args, kwargs):
        return kwargs.get(key, "?") if isinstance(key, str) else args[key]


print(D().format("{a} {b}", a=1), list(string.Formatter().parse("a{b}c")))


class T(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        print("setUp")

    async def asyncSetUp(self):
        print("async setUp")
        self.v = 1

    async def test_a(self):
        await asyncio.sleep(0)
        self.assertEqual(self.v, 1)
        self.addAsyncCleanup(self.clean)

    async def clean(self):
        print("cleanup")

    async def asyncTearDown(self):
        print("async tearDown")

    def test_sync(self):
        self.assertTrue(True)


class Ctx:
    def __enter__(self):
        return self

    def __exit__(self, t: type | None, e: BaseException | None, tb: TracebackType | None) -> bool:
        return True


with Ctx():
    raise ValueError
print(
    isinstance(1, types.CodeType),
    inspect.getgeneratorstate(x for x in []),
    sys.implementation.name,
    sys.getdefaultencoding(),
    sys.flags.optimize,
)
r = unittest.TestResult()
unittest.defaultTestLoader.loadTestsFromTestCase(T).run(r)
print(r.testsRun, r.wasSuccessful())
