"""One sandbox, many threads; and what happens to them when something ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from belljar import BelljarError, Sandbox

from tests.clocks import HANG, UNTIL_KILLED

SLEEPS = "print('begun', flush=True)\n" + UNTIL_KILLED


def in_threads(count: int, step: Callable[[int], None]) -> None:
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            step(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


def test_many_at_once(box: Sandbox) -> None:
    def step(number: int) -> None:
        for each in range(5):
            seen: list[str] = []
            result = box.run(
                f"print({number})\nadd({each}, number)",
                inputs={"number": number},
                functions={"add": lambda a, b: a + b},
                stream=lambda name, text, seen=seen: seen.append(text),
            )
            assert result.value == number + each
            assert "".join(seen) == result.stdout == f"{number}\n"

    in_threads(12, step)


def test_the_gil_is_let_go_of(box: Sandbox) -> None:
    box.wait_until_ready(30)
    ticks = 0
    is_done = threading.Event()

    def run() -> None:
        box.run("import time\ntime.sleep(0.5)")  # sleeps: for a hundred ticks on an idle machine
        is_done.set()

    thread = threading.Thread(target=run)
    thread.start()
    while not is_done.is_set():
        ticks += 1
        time.sleep(0.005)  # sleeps: it ticks
    thread.join()
    assert ticks > 3


def test_closing_kills_what_runs() -> None:
    box = Sandbox()
    begun = threading.Event()
    results: list[object] = []

    def run() -> None:
        results.append(box.run(SLEEPS, stream=lambda name, text: begun.set()))

    thread = threading.Thread(target=run)
    thread.start()
    assert begun.wait(30)
    box.close()
    thread.join(HANG)
    (result,) = results
    assert (result.status, result.error.type, result.stdout) == ("killed", "Cancelled", "begun\n")


def test_closing_wakes_who_waits() -> None:
    """Also for a worker that is not there yet."""
    box = Sandbox(spares=1)
    raised: list[BaseException] = []

    def wait() -> None:
        try:
            result = box.run(SLEEPS)
            assert result.status == "killed"
        except BelljarError as error:
            raised.append(error)

    threads = [threading.Thread(target=wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    box.close()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_two_that_close() -> None:
    for _ in range(3):
        box = Sandbox(spares=1)
        in_threads(3, lambda _, box=box: box.close())
        with pytest.raises(BelljarError):
            box.run("1")


def test_a_sandbox_that_nobody_closes_goes_with_its_last_name() -> None:
    import gc

    box = Sandbox(spares=1)
    box.wait_until_ready(30)
    assert box._engine is not None
    pid = box._engine.counters()["zygote_pid"]
    del box
    gc.collect()
    with pytest.raises(ProcessLookupError):
        import os

        os.kill(pid, 0)


def test_two_whose_functions_close_each_other() -> None:
    with Sandbox(spares=1) as one, Sandbox(spares=1) as other:
        both = threading.Barrier(2, timeout=30)
        statuses: list[str] = []

        def step(number: int) -> None:
            mine, its = ((one, other), (other, one))[number]

            def close() -> None:
                both.wait()  # each is in its run now, and stays there until the other is closed
                its.close()

            statuses.append(
                mine.run("close()\nwhile True: pass", functions={"close": close}).status
            )

        in_threads(2, step)
        assert statuses == ["killed", "killed"]
