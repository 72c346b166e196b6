"""`AsyncSandbox`."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import pickle
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from belljar import AsyncSandbox, BelljarError, GuestFailed

from tests.clocks import HANG, UNTIL_KILLED

SLOW = "print('begun', flush=True)\n" + UNTIL_KILLED


def with_box(step: Callable[[AsyncSandbox], Awaitable[Any]], **options: Any) -> Any:
    async def main() -> Any:
        async with AsyncSandbox(**options) as box:
            return await step(box)

    return asyncio.run(asyncio.wait_for(main(), 60))


def meeting(count: int) -> Callable[[], Awaitable[None]]:
    """A function that ends once it has been called so many times."""
    arrived = 0
    all_are_there = asyncio.Event()

    async def meet() -> None:
        nonlocal arrived
        arrived += 1
        if arrived == count:
            all_are_there.set()
        await all_are_there.wait()

    return meet


def test_all_of_it() -> None:
    async def step(box: AsyncSandbox) -> None:
        await box.wait_until_ready(30)
        result = await box.run("print('a')\nx + 1", inputs={"x": 1})
        assert (result.value, result.stdout) == (2, "a\n")
        assert not (await box.validate("import glob")).ok
        assert "math" in (await box.info()).modules
        with pytest.raises(GuestFailed):
            await box.run("1 / 0", raise_on_error=True)
        with pytest.raises(ValueError, match="timeout"):
            await box.run("1", timeout=-1)
        with pytest.raises(ValueError, match="the maximum of profile"):
            await box.run("1", timeout=9999)

    with_box(step)


def test_options_are_judged_at_once_or_when_it_opens() -> None:
    with pytest.raises(ValueError, match="isolation"):
        AsyncSandbox(isolation="none")  # type: ignore[arg-type]

    async def main() -> None:
        box = AsyncSandbox("basics")
        with pytest.raises(ValueError, match="unknown profile"):
            await box.run("1")
        await box.close()
        with pytest.raises(BelljarError, match="closed"):
            await box.run("1")

    asyncio.run(main())


def test_the_loop_never_waits() -> None:
    """It answers each of them while all others run."""

    async def step(box: AsyncSandbox) -> None:
        meet = {"meet": meeting(4)}
        await asyncio.gather(*(box.run("await meet()", functions=meet) for _ in range(4)))

    with_box(step, concurrency=4)


def test_cancelling_kills() -> None:
    async def step(box: AsyncSandbox) -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(box.run(SLOW, stream=lambda name, text: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The one thread is free again: the program is dead.
        assert (await box.run("1")).value == 1
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(box.run(SLOW), 0.2)

    with_box(step, concurrency=1)


def test_cancelling_what_has_not_begun() -> None:
    async def step(box: AsyncSandbox) -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def wait() -> int:
            begun.set()
            await go_on.wait()
            return 1

        first = asyncio.create_task(box.run("await wait()", functions={"wait": wait}))
        await begun.wait()
        second = asyncio.create_task(box.run(SLOW))
        await asyncio.sleep(0.1)  # sleeps: it waits for the one thread
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        go_on.set()
        assert (await first).value == 1
        assert (await box.run("2")).value == 2

    with_box(step, concurrency=1)


def test_output_and_functions_in_the_loops_thread_in_order() -> None:
    async def step(box: AsyncSandbox) -> None:
        here = threading.get_ident()
        seen: list[str] = []

        def show(name: str, text: str) -> None:
            assert threading.get_ident() == here
            seen.append(text)

        def plain(x: int) -> int:
            assert threading.get_ident() == here
            seen.append(f"plain {x}\n")
            return x + 1

        async def slow(x: int) -> int:
            await asyncio.sleep(0.05)  # sleeps: longer than the others take
            assert threading.get_ident() == here
            return x * 2

        async def fails() -> None:
            raise LookupError("none")

        code = """
print("one", flush=True)
a = plain(1)
print("two", flush=True)
b = await slow(a)
try:
    await fails()
except LookupError as error:
    told = str(error)
(a, b, told)
"""
        result = await box.run(
            code, stream=show, functions={"plain": plain, "slow": slow, "fails": fails}
        )
        assert result.value == (2, 4, "none"), result.error
        assert "".join(seen) == "one\nplain 1\ntwo\n"

    with_box(step)


def test_functions_and_streams_find_the_callers_context() -> None:
    who = contextvars.ContextVar("who", default="nobody")

    async def step(box: AsyncSandbox) -> None:
        async def slow() -> str:
            await asyncio.sleep(0)
            return who.get()

        async def call(name: str) -> None:
            who.set(name)
            heard = []
            result = await box.run(
                "print(1)\n[plain(), await slow()]",
                stream=lambda *_: heard.append(who.get()),
                functions={"plain": who.get, "slow": slow},
            )
            assert result.value == [name, name]
            assert heard == [name]
            await box.run("leave('x')", functions={"leave": lambda name: bool(who.set(name))})
            assert who.get() == name

        await asyncio.gather(call("Ada"), call("Grace"))
        assert who.get() == "nobody"

    with_box(step)


def test_a_run_within_a_run() -> None:
    """Although all threads are taken by runs that wait for it."""

    async def step(box: AsyncSandbox) -> None:
        async def deeper(level: int) -> object:
            result = await box.run(
                "await deeper(level - 1) if level else 'ground'",
                inputs={"level": level},
                functions={"deeper": deeper},
            )
            return result.value

        assert await deeper(4) == "ground"
        assert await asyncio.gather(*(deeper(2) for _ in range(3))) == ["ground"] * 3

        async def others() -> list[object]:
            assert (await box.validate("1")).ok and (await box.info()).profile == "basic"
            return [each.value async for each in box.run_many(["1", "2"])]

        result = await box.run("await others()", functions={"others": others})
        assert result.value == [1, 2]

    with_box(step, concurrency=1)


def test_a_run_within_a_run_is_killed_with_it() -> None:
    async def step(box: AsyncSandbox) -> None:
        begun = asyncio.Event()

        async def inner() -> None:
            await box.run(SLOW, stream=lambda *_: begun.set())

        task = asyncio.create_task(box.run("await inner()", functions={"inner": inner}))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await box.run("1")).value == 1

    with_box(step, concurrency=1)


def test_exceptions_of_streams_end_the_run() -> None:
    async def step(box: AsyncSandbox) -> None:
        def show(name: str, text: str) -> None:
            raise LookupError("enough")

        for raise_on_error in (False, True):
            with pytest.raises(LookupError, match="enough"):
                await box.run(SLOW, stream=show, raise_on_error=raise_on_error)

    with_box(step)


def test_cancelling_ends_a_function_that_is_awaited() -> None:
    async def step(box: AsyncSandbox) -> None:
        begun = asyncio.Event()
        ended = asyncio.Event()

        async def forever() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        task = asyncio.create_task(box.run("await forever()", functions={"forever": forever}))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(ended.wait(), HANG)
        assert (await box.run("1")).value == 1

    with_box(step, concurrency=1)


def test_many_in_order() -> None:
    async def step(box: AsyncSandbox) -> None:
        async def programs() -> AsyncIterator[str]:
            for number in range(9):
                # sleeps: some take longer than those after them
                yield f"import time\ntime.sleep({0.1 if number % 4 == 0 else 0})\n{number}"

        values = [each.value async for each in box.run_many(programs(), concurrency=3)]
        assert values == list(range(9))
        results = box.run_many(["1", SLOW, SLOW], concurrency=3)
        async for result in results:
            assert result.value == 1
            break
        await results.aclose()  # type: ignore[attr-defined]

    with_box(step)


def test_closing_kills_what_runs() -> None:
    async def main() -> None:
        box = AsyncSandbox()
        begun = asyncio.Event()
        task = asyncio.create_task(box.run(SLOW, stream=lambda name, text: begun.set()))
        await begun.wait()
        await asyncio.wait_for(box.close(), HANG)
        assert (await task).status == "killed"

    asyncio.run(main())


def test_closing_ends_a_function_that_is_awaited() -> None:
    async def main() -> None:
        box = AsyncSandbox()
        begun = asyncio.Event()

        async def forever() -> None:
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(box.run("await forever()", functions={"forever": forever}))
        await begun.wait()
        await asyncio.wait_for(box.close(), HANG)
        assert (await task).status == "killed"

    asyncio.run(main())


def threads() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name == "belljar"}


def test_threads_end_with_it_also_if_nobody_closes_it() -> None:
    before = threads()

    async def main() -> None:
        box = AsyncSandbox(spares=1)
        await asyncio.gather(*(box.run("1") for _ in range(3)))
        assert threads() - before

    asyncio.run(main())
    gc.collect()
    for thread in threads() - before:
        thread.join(HANG)
        assert not thread.is_alive()


def test_threads_end_when_closing_is_cancelled() -> None:
    before = threads()

    async def main() -> None:
        box = AsyncSandbox(spares=1)
        await box.run("1")
        closing = asyncio.create_task(box.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        for thread in threads() - before:
            await asyncio.to_thread(thread.join, HANG)
            assert not thread.is_alive()
        with pytest.raises(BelljarError, match="closed"):
            await box.run("1")

    asyncio.run(main())


def test_it_pickles_as_its_options() -> None:
    box = pickle.loads(pickle.dumps(AsyncSandbox(timeout=3, concurrency=2)))

    async def main() -> float:
        async with box:
            return (await box.run("1")).limits.timeout

    assert asyncio.run(main()) == 3
