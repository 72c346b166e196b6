"""Generators, coroutines and what they wait for."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a generator's frame": """
        def g(): yield
        loot = g().gi_frame
        """,
    "a generator's code": """
        def g(): yield
        loot = g().gi_code
        """,
    "what a generator waits for": """
        def inner(): yield
        def outer(): yield from inner()
        o = outer()
        next(o)
        loot = o.gi_yieldfrom.gi_frame
        """,
    "a generator expression's frame": """
        loot = (x for x in ()).gi_frame.f_back or (x for x in ()).gi_frame
        """,
    "a coroutine's frame": """
        async def f(): pass
        c = f()
        loot = c.cr_frame
        c.close()
        """,
    "what a coroutine waits for": """
        class A:
            def __await__(self): yield
        async def f(): await A()
        c = f()
        c.send(None)
        loot = c.cr_await.gi_frame
        """,
    "a coroutine's code by getattr": """
        async def f(): pass
        c = f()
        loot = getattr(c, 'cr_' + 'code')
        c.close()
        """,
    "an async generator's frame": """
        async def f(): yield
        loot = f().ag_frame
        """,
    "an async generator's code": """
        async def f(): yield
        loot = f().ag_code
        """,
    "what an async generator waits for": """
        class A:
            def __await__(self): yield
        async def f():
            await A()
            yield
        a = f()
        step = a.__anext__()
        step.send(None)
        loot = a.ag_await.gi_frame
        """,
    "a generator of the library": """
        import heapq
        g = heapq.merge([1], [2])
        next(g)
        loot = g.gi_frame.f_globals
        """,
    "a generator of the library, in a pattern": """
        import heapq
        match heapq.merge([1], [2]):
            case object(gi_frame=f): loot = f
        """,
    "a generator inside a context manager": """
        import contextlib
        @contextlib.contextmanager
        def c(): yield
        loot = c().gen.gi_frame
        """,
    "a traceback thrown back into a generator": """
        class Keep:
            def __enter__(self): return self
            def __exit__(self, kind, value, tb):
                self.tb = tb
                return True
        with Keep() as kept: 1 / 0
        def g():
            try: yield
            except ValueError as e:
                yield e.__traceback__
        gen = g()
        next(gen)
        loot = gen.throw(ValueError, ValueError(), kept.tb).tb_frame
        """,
    "StopIteration's value is a frame": """
        def g():
            return h.gi_frame
            yield
        h = g()
        try: next(h)
        except StopIteration as e: loot = e.value
        """,
    "the frame of a generator by a protocol": """
        import functools
        def g(): yield
        loot = functools.reduce(lambda o, n: getattr(o, n), ['gi_frame', 'f_globals'], g())
        """,
    "coroutine's frame": """
        async def f(): pass
        c = f()
        loot = c.cr_frame
        """,
    "CVE-2023-37271 frames of a generator": """
        import math
        def gen(): yield g.gi_frame.f_back.f_back
        g = gen()
        loot = next(g).f_globals
        """,
    "CVE-2023-37271 computed": """
        def gen():
            yield getattr(getattr(getattr(g, 'gi_' + 'frame'), 'f_back'), 'f_globals')
        g = gen()
        loot = next(g)
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
