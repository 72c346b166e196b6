"""`run_many`."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from belljar import GuestFailed, Sandbox
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
    with pytest.raises(TypeError, match="code is a int"):
        list(box.run_many([1]))  # type: ignore[list-item]
    assert list(box.run_many([])) == []
