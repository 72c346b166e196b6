"""What a program leaves, as integrations are told of it (`take` of Sandbox._program)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from belljar import Result, Sandbox


@pytest.fixture(scope="module", params=["on", "off"])
def either(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(policy=request.param) as sandbox:
        yield sandbox


def left(box: Sandbox, code: str, **options: Any) -> tuple[Result, list[tuple[Any, ...]]]:
    told: list[tuple[Any, ...]] = []
    asked = box._program(code, take=lambda *args: told.append(args), **options)
    return box._run(asked, None, raise_on_error=False), told


def test_values_of_plain_data_and_names_of_the_rest(either: Sandbox) -> None:
    code = "import math\na = (1, {2})\ndef f(): pass\nclass C: pass\n_b = 1\nc = [f]\n6 * 7"
    result, told = left(either, code)
    assert told == [("math",), ("a", (1, {2})), ("f",), ("C",), ("c",), ()]
    assert result.value == 42


def test_what_was_given_comes_back_as_it_is_now(either: Sandbox) -> None:
    code = "given.append(2)\ndel other\nask()"
    inputs = {"given": [1], "other": 1}
    _, told = left(either, code, inputs=inputs, functions={"ask": lambda: None})
    assert told == [("given", [1, 2]), ()]  # and no function of the caller's


@pytest.mark.parametrize("ending", ["1 / 0", "raise SystemExit(3)", "exit()"])
def test_also_when_it_has_raised(either: Sandbox, ending: str) -> None:
    _, told = left(either, f"n = 1\n{ending}\nn = 2")
    assert told == [("n", 1), ()]


@pytest.mark.parametrize("code", ["n = 1\nwhile True: pass", "n = (", "n = 1\nx = 'a' * 10**12"])
def test_nothing_when_it_did_not_end_by_itself(either: Sandbox, code: str) -> None:
    result, told = left(either, code, timeout="500ms")
    assert not result.ok and told == []


def test_a_value_that_is_too_large_is_a_name(either: Sandbox) -> None:
    _, told = left(either, "n = 'a' * 2_000_000\nx = [0] * 10\nm = [[x] * 1000] * 1000")
    assert told == [("n",), ("x", [0] * 10), ("m",), ()]


def test_no_method_of_the_programs_is_called(either: Sandbox) -> None:
    code = """
class Loud(dict):
    def __len__(self): print('called'); return 1
    def __iter__(self): print('called'); return iter(())
    def __repr__(self): print('called'); return ''
    def items(self): print('called'); return []
loud = Loud(a=1)
"""
    result, told = left(either, code)
    assert told == [("Loud",), ("loud",), ()] and result.stdout == ""


def test_no_program_can_call_it_by_name(either: Sandbox) -> None:
    result, told = left(
        either, "print('ask' in dir(), '@variable' in dir())", functions={"ask": id}
    )
    assert (result.stdout, told) == ("True False\n", [()])


def test_what_take_raises_that_is_no_exception_ends_the_run(box: Sandbox) -> None:
    def take(*args: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        box._run(box._program("n = 1", take=take), None, raise_on_error=False)
    assert box.run("1").ok


def test_a_run_that_is_not_asked_tells_nothing(box: Sandbox) -> None:
    asked = box._program("n = 1", functions={"ask": print})
    assert asked["functions"] == ["ask"]
