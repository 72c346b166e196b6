"""Attacks by way of a function that the caller gives a program. Each succeeds in plain Python with the
same function, and fails in a sandbox.
"""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

SECRET = "the caller's own"


def given() -> Callable[..., Any]:
    """A function such as callers hand in: with something of theirs in its closure and its globals."""
    kept = [SECRET]

    def ask(argument: object = None) -> object:
        if argument == "fail":
            raise LookupError("no such")
        return len(kept)

    return ask


ATTACKS = {
    "its globals": "loot = ask.__globals__['SECRET']",
    "by a name made at run time": "loot = getattr(ask, '__glo' + 'bals__')['SECRET']",
    "its closure": "loot = ask.__closure__[0].cell_contents[0]",
    "its code": "loot = ask.__code__.co_filename",
    "a format string": "loot = '{0.__globals__}'.format(ask)",
    "a getter": "import operator\nloot = operator.attrgetter('__globals__')(ask)",
    "a partial's function": "import functools\nloot = functools.partial(ask).func.__globals__",
    "what a wrapper copies": """
        import functools
        def g(): pass
        functools.update_wrapper(g, ask, assigned=(), updated=())
        loot = g.__wrapped__.__globals__
        """,
    "the frame of its failure": """
        try:
            ask('fail')
        except LookupError as error:
            entry = error.__traceback__
            while entry.tb_next:
                entry = entry.tb_next
            loot = entry.tb_frame.f_globals['SECRET']
        """,
    "another code in its place": """
        def make(kept):
            def mine(argument=None): return kept and SECRET
            return mine
        ask.__code__ = make([1]).__code__
        loot = ask()
        """,
    "its defaults": "ask.__defaults__ = ('mine',)\nloot = ask.__defaults__",
    "its type makes functions": """
        def mine(): return SECRET
        loot = type(ask)(mine.__code__, ask.__globals__)()
        """,
    "a match reads its attributes": """
        match ask:
            case object(__globals__=found):
                loot = found['SECRET']
        """,
}


def plain(source: str) -> object:
    scope = {"ask": given(), "__name__": "__main__"}
    exec(textwrap.dedent(source), scope)
    return scope.get("loot")


@pytest.mark.parametrize("source", ATTACKS.values(), ids=ATTACKS)
def test_nothing_of_the_caller_is_reached(box, source):
    assert plain(source), "the attack does nothing in plain Python: it proves nothing"
    result = box.run(textwrap.dedent(source), functions={"ask": given()})
    assert result.status in {"refused", "exception"}, result
    assert SECRET not in repr(result)


# An object of the program's own class, whose methods the caller's function would run.
HOSTILE = {
    "a str that is equal to all": "class S(str):\n    def __eq__(self, other): return True\nask(S())",
    "a list that counts itself": "class L(list):\n    def __len__(self): return 7\nask(L())",
    "a dict with its own get": "class D(dict):\n    def get(self, *_): return 1\nask(D())",
    "any object": "class X: pass\nask(X())",
    "one within": "class X: pass\nask([{'x': (X(),)}])",
    "one as a key": "class S(str): __hash__ = str.__hash__\nask({S('x'): 1})",
    "a function": "ask(lambda: 1)",
    "a class": "class X: pass\nask(X)",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_no_object_of_the_program_comes_to_the_caller(box, source):
    came: list[object] = []

    def ask(argument: object) -> None:
        came.append(argument)

    exec(source, {"ask": ask, "__name__": "__main__"})
    assert came, "control"
    came.clear()
    result = box.run(source, functions={"ask": ask})
    assert result.error is not None
    assert result.error.type == "TypeError"
    assert not came


def test_what_comes_is_plain_data_of_the_callers_own(box):
    came = []
    result = box.run(
        "ask(None, True, 2**70, 1.5, 'x', b'y', [1], (2,), {3: 4}, {5}, frozenset({6}))",
        functions={"ask": lambda *arguments: came.extend(arguments)},
    )
    assert result.ok
    expected = [None, True, 2**70, 1.5, "x", b"y", [1], (2,), {3: 4}, {5}, frozenset({6})]
    assert came == expected
    assert [type(value) for value in came] == [type(value) for value in expected]
