"""`run_many`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from belljar import AsyncSandbox, GuestFailed, Program, Result, Sandbox
from belljar._async import around

from tests.clocks import UNTIL_KILLED

SLOW = UNTIL_KILLED


def ours() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "belljar"]


def test_in_order_whatever_takes_longer(box: Sandbox) -> None:
    # sleeps: some take longer than those after them
    codes = [f"import time\ntime.sleep({0.2 if n % 3 == 0 else 0})\n{n}" for n in range(12)]
    values = [each.value for each in box.run_many(codes, concurrency=4)]
    assert values == list(range(12))
    assert not ours()


def test_programs_are_taken_as_results_are(box: Sandbox) -> None:
    taken: list[int] = []

    def programs() -> Iterator[str]:
        number = 0
        while True:
            taken.append(number)
            yield str(number)
            number += 1

    results = box.run_many(programs(), concurrency=2)
    assert taken == []
    assert [next(results).value for _ in range(3)] == [0, 1, 2]
    assert len(taken) <= 3 + 2 * 2
    results.close()
    assert not ours()


def test_closing_kills_what_runs(box: Sandbox) -> None:
    results = box.run_many(["1", SLOW, SLOW, SLOW], concurrency=2)
    assert next(results).value == 1
    results.close()
    assert not ours()


def test_an_exception_in_the_programs_kills_what_runs(box: Sandbox) -> None:
    def programs() -> Iterator[str]:
        yield SLOW
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(box.run_many(programs()))
    assert not ours()


def test_options_are_those_of_run(box: Sandbox) -> None:
    results = list(box.run_many(["x", "1 / 0"], inputs={"x": 5}, timeout=3))
    assert [each.status for each in results] == ["ok", "exception"]
    assert {each.limits.timeout for each in results} == {3}
    with pytest.raises(GuestFailed):
        list(box.run_many(["1", "1 / 0", SLOW], raise_on_error=True))
    with pytest.raises(ValueError, match="timeout"):
        box.run_many(["1"], timeout=-1)
    for programs, said in (("1 + 1", "a single program"), (5, "programs is a int")):
        for many in (box.run_many, around(box).run_many):
            with pytest.raises(TypeError, match=said):
                many(programs)  # type: ignore[operator, arg-type]
    with pytest.raises(ValueError, match="concurrency is 0"):
        box.run_many(["1"], concurrency=0)
    assert list(box.run_many([])) == []


def both(box: Sandbox, programs: Iterable[Any], **options: Any) -> Iterator[list[Result]]:
    """What comes of them, from either kind of sandbox."""
    yield list(box.run_many(programs, **options))

    async def collected(shared: AsyncSandbox) -> list[Result]:
        return [each async for each in shared.run_many(programs, **options)]

    yield asyncio.run(collected(around(box)))


def test_each_may_have_its_own_options(files: Sandbox, tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.write_text("on disk")
    seen: list[str] = []
    programs = [
        "n",
        b"n + 1",
        Program(code="(input(), n)", stdin="typed"),
        {"code": "n", "inputs": {"n": 7}},
        {"code": "import sys\nsys.argv[1:]", "args": ["a", "b"]},
        {"code": "import os\nos.environ['A']", "env": {"A": "of the program"}},
        {"code": "open('data').read()", "files": {"data": local}},
        {"code": "ask()", "functions": {"ask": lambda: "answered"}},
        {"code": "__file__", "filename": "own.py"},
        {"code": "1", "timeout": 3, "memory": "64m"},
        {"code": "print('streamed')", "stream": lambda name, text: seen.append(text)},
        {"code": "1 / 0", "raise_on_error": False},
    ]
    common = {"inputs": {"n": 5}, "timeout": 9, "raise_on_error": True}
    for results in both(files, programs, **common):
        values = [each.value for each in results]
        assert values[:9] == [
            5, 6, ("typed", 5), 7, ["a", "b"], "of the program", "on disk", "answered", "own.py",
        ]  # fmt: skip
        assert [each.limits.timeout for each in results] == [9] * 9 + [3] + [9] * 2
        assert results[9].limits.memory_bytes == 64 << 20
        assert results[11].status == "exception"
    assert seen == ["streamed\n"] * 2


WRONG = {
    "no program": (1, TypeError, r"programs\[1\]: it is a int; give a str, bytes, or a dict"),
    "no code": ({"stdin": "x"}, TypeError, r"programs\[1\]: it has no 'code'"),
    "another type of code": ({"code": 5}, TypeError, r"programs\[1\]: code is a int"),
    "an unknown key": (
        {"code": "1", "stdn": "x"},
        TypeError,
        r"programs\[1\]: it has the unknown key 'stdn'. Did you mean 'stdin'\?",
    ),
    "an option of all": ({"code": "1", "concurrency": 2}, TypeError, r"the unknown key 'concurr"),
    "a bad value": ({"code": "1", "timeout": -1}, ValueError, r"programs\[1\]: timeout is -1"),
    "over the profile's": ({"code": "1", "timeout": 9999}, ValueError, r"programs\[1\]: timeout: "),
    "a key that is no str": ({"code": "1", 5: 1}, TypeError, r"programs\[1\]: .* unknown key 5"),
}


@pytest.mark.parametrize(("entry", "kind", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_entry_is_named_when_its_result_is_due(
    box: Sandbox, entry: Any, kind: type[Exception], said: str
) -> None:
    before = set(ours())  # such as those of asynchronous sandboxes, which the collector ends
    results = box.run_many(["'before'", entry, "'after'"])
    assert next(results).value == "before"
    with pytest.raises(kind, match=said):
        next(results)
    assert set(ours()) <= before

    async def asynchronous() -> None:
        shared = around(box).run_many(["'before'", entry, "'after'"])
        assert (await anext(shared)).value == "before"
        with pytest.raises(kind, match=said):
            await anext(shared)

    asyncio.run(asynchronous())


def test_a_program_that_fails_is_named_in_a_note(box: Sandbox) -> None:
    with pytest.raises(GuestFailed) as told:
        list(box.run_many(["1", {"code": "1 / 0", "raise_on_error": True}]))
    assert told.value.__notes__ == ["programs[1]"]
