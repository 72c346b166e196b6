"""Coroutines, asynchronous loops, contexts and generators, driven by hand."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("async-function", "await", "async-for", "async-with", "async-generator")

DRIVE = """
    class Wait:
        def __init__(self, value): self._value = value
        def __await__(self):
            got = yield self._value
            return got
    def drive(coroutine, *sent):
        out, sent = [], list(sent)
        try:
            out.append(coroutine.send(None))
            while True: out.append(coroutine.send(sent.pop(0) if sent else None))
        except StopIteration as end: return out, end.value
"""

test_runs = runs({
    "await": DRIVE + """
    async def one(x): return x + await Wait(x)
    async def main():
        a = await one(1)
        b = [await one(2), a]
        c = (await one(3)) if await one(0) else 'falsy'
        return a, b, c, f'{await one(5)}', await Wait('last') or 'nothing'
    print(drive(main(), 10, 20, 0, 30))
    """,
    "what a coroutine says of itself": """
        async def f(a, *, b=1) -> int: 'doc'
        c = f(1)
        print(f.__name__, f.__doc__, c.__name__, type(c).__name__, c.__qualname__)
        print(c.close())
        """,
    "exceptions": DRIVE + """
    async def f():
        try: await Wait(1)
        except ValueError as e: print('caught', e); return 'handled'
        finally: print('finally')
    c = f(); c.send(None)
    try: c.throw(ValueError('v'))
    except StopIteration as e: print(e.value)
    c = f(); c.send(None); c.close()
    """,
    "async for": DRIVE + """
    class A:
        def __init__(self, n): self._n = n
        def __aiter__(self): return self
        async def __anext__(self):
            if not self._n: raise StopAsyncIteration
            self._n -= 1
            return await Wait(self._n)
    async def main():
        out = []
        async for x in A(3):
            if x == 'skip': continue
            out.append(x)
        else: out.append('else')
        class T: pass
        t = T()
        async for t.x in A(1): break
        else: out.append('never')
        async for a, *t._rest in A(1): out.append((a, t._rest))
        return out
    print(drive(main(), 'a', 'skip', 'b', 'c', 'xyz'))
    """,
    "async with": DRIVE + """
    class CM:
        def __init__(self, n, swallow=False): self.n, self._swallow = n, swallow
        async def __aenter__(self): print('enter', await Wait(self.n)); return self
        async def __aexit__(self, kind, value, tb):
            print('exit', self.n, kind, value)
            await Wait('x')
            return self._swallow
    async def main():
        async with CM(1, True) as a, CM(2) as b: raise ValueError(a.n + b.n)
        async with (CM(3) as a.x, CM(4)): pass
        for i in range(2):
            async with CM(5): continue
        async with CM(6): return 'returned'
    print(drive(main()))
    """,
    "generators": DRIVE + """
    async def ag():
        try:
            x = yield 1
            print('x', x)
            y = yield await Wait('w')
            print('y', y)
        except KeyError: yield 'caught'
        finally: print('finally')
    a = ag()
    print(drive(a.__anext__()), drive(a.asend('s'), 'v'), drive(a.athrow(KeyError)), drive(a.aclose()))
    try: drive(a.__anext__())
    except StopAsyncIteration: print('over')
    async def main():
        out = [x async for x in ag()]
        it = ag()
        out.append(await anext(it)); await it.aclose()
        out.append(await anext(aiter(ag())))
        return out, await anext(ag(), 'default')
    print(drive(main()))
    """,
    "methods and hooks": DRIVE + """
    class S:
        def __init__(self): self._log = []; self.__n = 0
        async def _step(self, x):
            self.__n += await Wait(x) or 1
            self._log.append(self.__n)
            return self
        async def run(self):
            (await self._step(1)).n = (await self._step(2))._log
            return self.n, self.__n
    print(drive(S().run(), 5))
    """,
    "lambda, nested and decorated": DRIVE + """
    def deco(f):
        async def wrapper(*a): return ('wrapped', await f(*a))
        return wrapper
    @deco
    async def f(x):
        async def inner(): return x
        return await inner()
    async def main(): return await (lambda: f(3))()
    print(drive(main()))
    """,
})  # fmt: skip

test_raises = raises([
    ("TypeError", "async def f(): pass\nc = f()\ntry: c.send(1)\nfinally: c.close()"),
    ("RuntimeError", "async def f(): pass\nc = f()\ntry: c.send(None)\nexcept StopIteration: c.send(None)"),
    ("TypeError", "async def f(): await 5\nf().send(None)"),
    ("TypeError", "async def f():\n  for x in g(): pass\nasync def g(): yield\nf().send(None)"),
    ("TypeError", "async def f():\n  async for x in [1]: pass\nf().send(None)"),
    ("TypeError", "async def f():\n  async with 5: pass\nf().send(None)"),
    ("ZeroDivisionError", "async def g(): 1 / 0\nasync def f():\n  await g()\nf().send(None)"),
    ("RuntimeError", "async def f(): raise StopIteration\nf().send(None)"),
    ("SyntaxError", "def f(): await x"),
    ("SyntaxError", "def f():\n  async with x: pass"),
    ("SyntaxError", "async def f():\n  yield 1\n  return 2"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 1, 1, "async def __import__(): pass"),
    ("BJ101", 2, 13, "async def f():\n  async for __builtins__ in x: pass"),
    ("BJ101", 2, 19, "async def f():\n  async with x as __builtins__: pass"),
    ("BJ303", 1, 1, "c.cr_frame"),
    ("BJ303", 1, 7, "print(c.ag_frame)"),
    ("BJ301", 1, 22, "async def f(): await g.__code__"),
])  # fmt: skip
