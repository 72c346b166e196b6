"""Library code that sets attributes on what its caller passes, which may be the library's."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.escapes.suite import check_attack
from tests.policy.harness import assert_same

SCRIPT = Path(__file__).with_name("hostile_stores.py")

# The calls take a minute, or minutes beside other work. The limit is for a hang.
pytestmark = pytest.mark.timeout(900)

ATTACKS = {
    "typing.final on a library function": """
        import json, typing
        typing.final(json.dumps)
        loot = 'escaped' if getattr(json.dumps, '__final__', None) else None
        """,
    "abc.abstractmethod on a library function": """
        import abc, json
        try: abc.abstractmethod(json.dumps)
        except AttributeError: pass
        loot = 'escaped' if getattr(json.dumps, '__isabstractmethod__', None) else None
        """,
    "typing.final on a method of a library class": """
        import string, typing
        typing.final(string.Template.substitute)
        loot = 'escaped' if getattr(string.Template.substitute, '__final__', None) else None
        """,
    "typing.final below the decorator of a library function": """
        import fnmatch, typing
        typing.final(fnmatch.translate)
        loot = 'escaped' if getattr(fnmatch.translate, '__final__', None) else None
        """,
    "a decorator called by a library function in C": """
        import abc, functools, json
        list(map(abc.abstractmethod, [json.dumps]))
        loot = 'escaped' if getattr(json.dumps, '__isabstractmethod__', None) else None
        """,
    "expectedFailure on a library function": """
        import json, unittest
        unittest.expectedFailure(json.dumps)
        class T(unittest.TestCase):
            test = json.loads
        loot = 'escaped' if getattr(json.dumps, '__unittest_expecting_failure__', True) else None
        """,
    "a function that was made from text": """
        import typing, tokenize
        new = tokenize.TokenInfo.__new__
        typing.final(new)
        loot = 'escaped' if getattr(new, '__final__', None) else None
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])


def test_decorators_still_mark_and_dress_the_programs_functions() -> None:
    assert_same("""
        import abc, asyncio, collections, contextlib, dataclasses, enum, functools, typing
        @typing.final
        def f(): "doc"
        f.x = 1
        print(f.__final__, vars(f))
        @functools.lru_cache(maxsize=3)
        def g(a: int) -> int:
            "doc g"
            return a
        print(g.__name__, g.__doc__, g(1), g.__wrapped__.__name__)
        @contextlib.contextmanager
        def h():
            "doc h"
            yield 1
        with h() as v: print(v, h.__name__, h.__doc__)
        @contextlib.asynccontextmanager
        async def i(): yield 1
        print(i.__name__)
        class A(abc.ABC):
            @abc.abstractmethod
            def m(self): pass
            @functools.singledispatchmethod
            def n(self, x): return 0
        try: A()
        except TypeError as e: print(e)
        @functools.total_ordering
        class O:
            def __init__(self, v): self.v = v
            def __lt__(self, o): return self.v < o.v
            def __eq__(self, o): return self.v == o.v
        @functools.total_ordering
        class P:
            def __ge__(self, o): return True
            def __eq__(self, o): return True
        print(O(1) <= O(2), O.__le__.__name__, P.__lt__.__name__, P() > P())
        @dataclasses.dataclass(order=True, frozen=True)
        class D:
            a: int = 1
            b: list = dataclasses.field(default_factory=list)
        print(D(), D(2) > D(1), D.__init__.__qualname__, hash(dataclasses.replace(D(), b=())))
        N = collections.namedtuple("N", "a b", defaults=[2])
        class T(typing.NamedTuple):
            "named"
            a: int
            b: str = "x"
        print(N(1), N.__new__.__name__, N.__new__.__doc__, T(1), T.__new__.__annotations__ == {"a": int, "b": str})
        class C(enum.Enum):
            X = enum.auto()
        print(C.X, C(1))
        class K(contextlib.ContextDecorator):
            def __enter__(self): return self
            def __exit__(self, *a): return False
        @K()
        def k(): "doc k"
        print(k.__name__, k.__doc__, k.__wrapped__.__name__)
        @typing.no_type_check
        def o(a: 1): pass
        @typing.overload
        def p(a: int): ...
        def p(a): pass
        @typing.runtime_checkable
        class Q(typing.Protocol):
            def q(self): ...
        """)


@pytest.fixture(scope="module", params=["basic", "filesystem"])
def record(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT), request.param],
        cwd=tmp_path_factory.mktemp("files"),  # what it writes
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_no_export_changes_a_function_of_the_library(record: dict[str, Any]) -> None:
    assert record["calls"] > 3000
    assert record["changed"].pop("control.careless") and record["changed"] == {}
