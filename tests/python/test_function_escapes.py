"""Attacks by way of a function that the caller gives a program. Each succeeds in plain Python with the
same function, and fails in a sandbox.
"""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import functools
import json
import re
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


def test_a_forged_call_is_not_made():
    """What a program with all of Python writes to the host itself, past the runner."""
    from belljar import _functions

    came = []

    def ask(*arguments: object, **named: object) -> None:
        came.append((arguments, named))

    answer = _functions.Answers({"ask": ask})
    assert answer("ask", '{"args":[1],"kwargs":{"a":2}}') == '{"value":null}', "control"
    assert came == [((1,), {"a": 2})]
    refusal = {
        "error": {"type": "ValueError", "message": "ask(): its arguments are not plain data"}
    }
    for forged in (
        '{"args":"abc","kwargs":{}}',
        '{"args":{"a":1},"kwargs":{}}',
        '{"args":{"$type":"tuple","items":[1]},"kwargs":{}}',
        '{"args":[],"kwargs":"abc"}',
        '{"args":[],"kwargs":5}',
        '{"args":[],"kwargs":{"$type":"dict","items":[[1,2]]}}',
        '{"args":[],"kwargs":{},"more":1}',
        '{"args":[]}',
        '"abc"',
        "[]",
    ):
        assert json.loads(answer("ask", forged)) == refusal, forged
    assert json.loads(answer("other", '{"args":[],"kwargs":{}}')) == {
        "error": {"type": "ValueError", "message": "other(): there is no such function"}
    }
    assert len(came) == 1


class Desk:
    """Of the caller's, whose methods and instances it hands out."""

    def __init__(self, place: str = "") -> None:
        self.place = place

    def ask(self, question: str) -> str:
        return question

    def __call__(self, question: str) -> str:
        return question


def test_a_call_that_does_not_fit_names_the_function_as_the_program_does(box):
    def local(question: str) -> str:
        return question

    @functools.wraps(local)
    def wrapped(*arguments: str, **named: str) -> str:
        return local(*arguments, **named)

    callables = {
        "a function": local,
        "a lambda": lambda question: question,
        "a method": Desk().ask,
        "an instance": Desk(),
        "a class": Desk,
        "a partial": functools.partial(local),
        "a wrapper": wrapped,
    }
    for what, function in callables.items():
        with pytest.raises(TypeError) as told:
            function(1, 2, 3)
        assert any(name in str(told.value) for name in ("Desk", "<locals>", "lambda")), "control"
        for call in ("tell(1, 2, 3)", "tell(1, other=2)"):
            result = box.run(call, functions={"tell": function})
            assert result.error is not None, what
            assert result.error.type == "TypeError", what
            assert result.error.message.startswith("tell() "), (what, result.error.message)
            assert not {"Desk", "<locals>", "lambda", __name__} & set(
                re.split(r"[ .()]", result.error.message)
            ), (what, result.error.message)


def test_what_a_function_returns_is_named_by_its_class_alone(box):
    class Kept:
        pass

    result = box.run("tell()", functions={"tell": Kept})
    assert result.error is not None
    assert "<locals>" not in result.error.message
    assert result.error.message.startswith("what tell returned is a Kept; only plain data")
