"""The caller's coroutine functions, which a program awaits, several side by side."""

# ruff: noqa: E501 (programs are kept as their authors write them)
from __future__ import annotations

import asyncio
import textwrap
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from belljar import AsyncSandbox, Result, Sandbox
from belljar._async import around

from tests.clocks import HANG
from tests.python.conftest import CALL_HOST

MOST = 16

GATHER = """
import asyncio
async def main():
    return await asyncio.gather(*(fetch(n) for n in range(count)))
asyncio.run(main())
"""


class Meeting:
    """A function that ends once so many calls of it run side by side."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.now = 0
        self.most = 0
        self.all_are_there: asyncio.Event | None = None

    async def __call__(self, number: int) -> int:
        if self.all_are_there is None:
            self.all_are_there = asyncio.Event()
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now == self.count:
            self.all_are_there.set()
        await self.all_are_there.wait()
        self.now -= 1
        return number * 10


def in_loop(box: Sandbox, step: Callable[[AsyncSandbox], Awaitable[Any]]) -> Any:
    return asyncio.run(asyncio.wait_for(step(around(box)), HANG))


def both(
    box: Sandbox, code: str, make: Callable[[], dict[str, Any]], **options: Any
) -> Iterator[Result]:
    """What comes of it, from either kind of sandbox. `make`: the functions."""
    yield box.run(code, functions=make(), **options)
    yield in_loop(box, lambda shared: shared.run(code, functions=make(), **options))


@pytest.fixture(scope="module")
def full() -> Iterator[Sandbox]:
    with Sandbox("full", spares=1) as sandbox:
        yield sandbox


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return number * 2


AWAITING = {
    "at the top": "await double(4) + 1",
    "in a coroutine": "import asyncio\nasync def main(): return await double(4) + 1\nasyncio.run(main())",
    "by keyword": "await double(number=4) + 1",
    "as a task": "import asyncio\ntask = asyncio.create_task(double(4))\nawait asyncio.sleep(0)\nawait task + 1",
    "in a group": """
import asyncio
async with asyncio.TaskGroup() as group:
    task = group.create_task(double(4))
task.result() + 1
""",
    "polled": """
import asyncio
task = asyncio.ensure_future(double(4))
while not task.done():
    await asyncio.sleep(0)
task.result() + 1
""",
    "in a thread": """
import asyncio, threading
found = []
thread = threading.Thread(target=lambda: found.append(asyncio.run(double(4))))
thread.start()
thread.join()
found[0] + 1
""",
    "beside a thread": """
import asyncio, threading, time
async def main():
    loop = asyncio.get_running_loop()
    woken = loop.create_future()
    def later():
        time.sleep(0.01)  # sleeps: the loop waits by then
        loop.call_soon_threadsafe(woken.set_result, 1)
    threading.Thread(target=later).start()
    return sum(await asyncio.gather(double(4), woken))
asyncio.run(main())
""",
    "beside a thread that works": """
import asyncio, threading, time
stop = []
def work():
    while not stop:
        time.sleep(0)
threading.Thread(target=work).start()
value = await double(4) + 1
stop.append(1)
value
""",
    "whose coroutine comes late": "pending = double(4)\nawait pending + 1",
}


@pytest.mark.parametrize("code", AWAITING.values(), ids=AWAITING)
def test_it_is_awaited(box: Sandbox, full: Sandbox, code: str) -> None:
    for sandbox in (box, full):
        for result in both(sandbox, code, lambda: {"double": double}):
            assert (result.status, result.value) == ("ok", 9), result


def test_it_is_a_coroutine_function_and_a_plain_one_is_plain(box: Sandbox) -> None:
    code = """
import inspect
[inspect.iscoroutinefunction(double), inspect.iscoroutinefunction(plain), plain(await double(2)), double.__name__]
"""
    for result in both(box, code, lambda: {"double": double, "plain": lambda number: number + 1}):
        assert result.value == [True, False, 5, "double"], result


def test_what_a_plain_function_returns_may_be_awaitable_there(box: Sandbox) -> None:
    """The program calls it plainly, and waits."""

    async def step(shared: AsyncSandbox) -> Result:
        return await shared.run("later(3) + 1", functions={"later": lambda number: double(number)})

    assert in_loop(box, step).value == 7


@pytest.mark.parametrize("count", [2, MOST])
def test_gathered_calls_run_side_by_side(box: Sandbox, full: Sandbox, count: int) -> None:
    """Each waits for all others."""
    for sandbox in (box, full):
        for result in both(
            sandbox, GATHER, lambda: {"fetch": Meeting(count)}, inputs={"count": count}
        ):
            assert result.value == [n * 10 for n in range(count)], result


def test_more_than_can_run_take_turns(box: Sandbox) -> None:
    meetings: list[Meeting] = []

    def make() -> dict[str, Any]:
        meetings.append(Meeting(MOST))
        return {"fetch": meetings[-1]}

    for result in both(box, GATHER, make, inputs={"count": 3 * MOST}):
        assert result.value == [n * 10 for n in range(3 * MOST)], result
    assert [each.most for each in meetings] == [MOST] * 2


def test_in_the_thread_of_the_caller(box: Sandbox) -> None:
    here = threading.get_ident()

    async def where() -> bool:
        return threading.get_ident() == here

    for result in both(box, "await where()", lambda: {"where": where}):
        assert result.value is True


FAILING = """
import asyncio
told = []
for arguments in [("KeyError",), (), (1, 2, 3), (object(),), ("value",)]:
    try:
        told.append(await fail(*arguments))
    except Exception as error:
        told.append((type(error).__name__, str(error)[:60]))
told += [type(each).__name__ for each in await asyncio.gather(fail("KeyError"), fail("no"), return_exceptions=True)]
told
"""


def test_failures_are_the_programs(box: Sandbox) -> None:
    async def fail(kind: str) -> object:
        await asyncio.sleep(0)
        if kind == "KeyError":
            raise KeyError("lost")
        return object() if kind == "value" else kind

    for result in both(box, FAILING, lambda: {"fail": fail}):
        assert result.value[0] == ("KeyError", "'lost'"), result
        assert result.value[1][0] == "TypeError" and result.value[1][1].startswith("fail() missing")
        assert result.value[2][0] == "TypeError" and result.value[2][1].startswith("fail() takes")
        assert result.value[3] == (
            "TypeError",
            "fail(): arguments are plain data only: None, bool, int, floa",
        )
        assert result.value[4][1].startswith("what fail returned is a object; only plain data")
        assert result.value[5:] == ["KeyError", "str"]
    uncaught = box.run("await fail('KeyError')", functions={"fail": fail})
    assert uncaught.error is not None
    assert (uncaught.error.type, uncaught.error.line) == ("KeyError", 1)
    assert "host_calls" not in uncaught.error.traceback
    assert "host_functions" not in uncaught.error.traceback


def test_an_answer_over_the_limit_is_one_calls_failure(box: Sandbox) -> None:
    async def much(size: int) -> str:
        return "x" * size

    code = """
import asyncio
[type(each).__name__ for each in await asyncio.gather(much(1), much(1 << 24), much(2), return_exceptions=True)]
"""
    for result in both(box, code, lambda: {"much": much}):
        assert result.value == ["str", "ValueError", "str"], result


TIMERS = """
import asyncio
ticks = []
async def tick():
    for n in range(3):
        await asyncio.sleep(0.01)  # sleeps: a timer, beside calls
        ticks.append(n)
    await go_on()
await asyncio.gather(wait(), tick())
ticks
"""


def test_timers_go_on_meanwhile(box: Sandbox, full: Sandbox) -> None:
    """Its function ends only once the program's timers have."""

    def make() -> dict[str, Any]:
        over: list[asyncio.Event] = []

        async def wait() -> None:
            over.append(asyncio.Event())
            await over[0].wait()

        async def go_on() -> None:
            over[0].set()

        return {"wait": wait, "go_on": go_on}

    for sandbox in (box, full):
        for result in both(sandbox, TIMERS, make):
            assert result.value == [0, 1, 2], result


CANCELLING = """
import asyncio
try:
    await asyncio.wait_for(forever(), 0.05)
except TimeoutError:
    said = "timeout"
[said, await ended()]
"""


def test_what_a_program_cancels_is_cancelled(box: Sandbox, full: Sandbox) -> None:
    def make() -> dict[str, Any]:
        over: list[asyncio.Event] = []

        async def forever() -> None:
            over.append(asyncio.Event())
            try:
                await asyncio.Event().wait()
            finally:
                over[0].set()

        async def ended() -> bool:
            await over[0].wait()
            return True

        return {"forever": forever, "ended": ended}

    for sandbox in (box, full):
        for result in both(sandbox, CANCELLING, make):
            assert result.value == ["timeout", True], result


def test_what_has_not_ended_is_cancelled_with_the_run(box: Sandbox) -> None:
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    # sleeps: for the task to begin
    code = "import asyncio\ntask = asyncio.create_task(forever())\nawait asyncio.sleep(0.01)\n1"

    async def step(shared: AsyncSandbox) -> Result:
        result = await shared.run(code, functions={"forever": forever})
        await asyncio.sleep(0)
        return result

    assert box.run(code, functions={"forever": forever}).value == 1
    assert ended == ["cancelled"]
    assert in_loop(box, step).value == 1
    assert ended == ["cancelled"] * 2


def test_the_timeout_ends_a_program_that_waits(box: Sandbox) -> None:
    """Other than a plain function, one that is awaited does not hold it up."""

    async def forever() -> None:
        await asyncio.Event().wait()

    for code in ("await forever()", GATHER.replace("fetch(n)", "forever()")):
        for result in both(
            box, code, lambda: {"forever": forever}, timeout=0.3, inputs={"count": 3}
        ):
            assert result.status == "timeout"


def test_what_is_no_exception_ends_the_run(box: Sandbox) -> None:
    async def leave() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        box.run("try:\n    await leave()\nexcept BaseException: pass", functions={"leave": leave})


def test_a_thread_whose_loop_runs_needs_the_other_sandbox(box: Sandbox) -> None:
    async def main() -> None:
        assert box.run("plain()", functions={"plain": lambda: 1}).value == 1
        with pytest.raises(ValueError, match=r"functions\['double'\] .* use AsyncSandbox"):
            box.run("await double(1)", functions={"double": double})

    asyncio.run(main())


def test_each_of_many_has_its_own_calls(box: Sandbox) -> None:
    codes = [f"await double({n}) + await double(1)" for n in range(6)]
    assert [each.value for each in box.run_many(codes, functions={"double": double})] == [
        2 * n + 2 for n in range(6)
    ]


# --- cells ----------------------------------------------------------------------------------------


def test_cells_await_too(box: Sandbox) -> None:
    with box.session() as session:
        assert session.run("x = await double(4)\nx", functions={"double": double}).value == 8
        gone = session.run("await double(1)")
        assert gone.error is not None and gone.error.type == "RuntimeError", gone
        assert session.run("await double(x)", functions={"double": double}).value == 16

    async def step(shared: AsyncSandbox) -> Any:
        async with shared.session() as cells:
            return (
                await cells.run(GATHER, functions={"fetch": Meeting(3)}, inputs={"count": 3})
            ).value

    assert in_loop(box, step) == [0, 10, 20]


def test_a_cells_clock_stands_still_while_it_can_only_wait(box: Sandbox) -> None:
    async def slowly() -> str:
        await asyncio.sleep(0.8)  # sleeps: longer than the cell may take
        return "done"

    functions = {"slowly": slowly}
    with box.session(timeout=0.5) as session:
        waits = session.run("await slowly()", functions=functions)
        assert (waits.status, waits.value) == ("ok", "done")
        assert waits.usage.wall_time < 0.5
        # sleeps: longer than its clock
        timers = "import asyncio\nawait asyncio.gather(slowly(), asyncio.sleep(60))"
        assert session.run(timers, functions=functions).status == "timeout"
        works = "import asyncio\ntask = asyncio.create_task(slowly())\nwhile True: await asyncio.sleep(0)"
        assert session.run(works, functions=functions).status == "timeout"
    # A run's clock goes on: its functions are part of it.
    assert box.run("await slowly()", functions=functions, timeout=0.5).status == "timeout"


def test_calls_that_a_cell_leaves_end_with_it(box: Sandbox) -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    leaves = """
import asyncio, threading
told = []
async def wait():
    try:
        await forever()
    except BaseException as error:
        told.append(str(error))
thread = threading.Thread(target=lambda: asyncio.run(wait()))
thread.start()
"""
    with box.session() as session:
        # Started, and left alone as soon as it only waits.
        begun = session.run(leaves, functions={"forever": forever}, timeout=1)
        if begun.status == "ok":
            assert session.run("thread.join()\ntold").value == ["the cell that called it has ended"]
        assert session.run("1 + 1").value == 2


def test_an_interrupted_cell_that_waits(box: Sandbox) -> None:
    async def step(shared: AsyncSandbox) -> Any:
        async with shared.session() as session:
            begun = asyncio.Event()

            async def forever() -> None:
                begun.set()
                await asyncio.Event().wait()

            await session.run("x = 1")
            task = asyncio.create_task(
                session.run("await forever()", functions={"forever": forever})
            )
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return (await session.run("x")).value

    assert in_loop(box, step) == 1


# --- attacks --------------------------------------------------------------------------------------

HOSTILE = (
    CALL_HOST
    + """
import json
ask = call_host()
def say(name, *args):
    return json.loads(ask(name, json.dumps({"args": args, "kwargs": {}})))
"""
)

# What a worker does that an attacker has taken over: each does what a runner does first.
FORGED = {
    "awaits nothing": "say('@await')",
    "awaits nothing until": "say('@await_until', 0.5)",
    "begins too many": f"[say('+double', n) for n in range({MOST + 1})]",
    "floods": "while True: say('+double', 1)",
    "takes an end twice": "say('+double', 1)\nwhile 'ended' not in say('@await'): pass\nsay('@await')",
    "cancels nothing": "say('@cancel', 1)",
    "cancels another": "say('+double', 1)\nsay('@cancel', 2)",
    "cancels twice": "say('+double', 1)\nsay('@cancel', 1)\nsay('@cancel', 1)",
    "cancels what has ended": "say('+double', 1)\nwhile 'ended' not in say('@await'): pass\nsay('@cancel', 1)",
    "cancels a truth": "say('+double', 1)\nsay('@cancel', True)",
    "cancels a text": "say('+double', 1)\nsay('@cancel', '1')",
    "cancels without a number": "say('+double', 1)\nsay('@cancel')",
    "cancels two": "say('+double', 1)\nsay('+double', 1)\nsay('@cancel', 1, 2)",
    "awaits with a number": "say('+double', 1)\nsay('@await', 'x')",
    "awaits until a text": "say('+double', 1)\nsay('@await_until', '1')",
    "awaits until before now": "say('+double', 1)\nsay('@await_until', -1.0)",
    "awaits until never": 'say(\'+double\', 1)\nask(\'@await_until\', \'{"args":[{"$type":"float","value":"nan"}],"kwargs":{}}\')',
    "calls it plainly": "say('double', 1)",
    "begins a plain one": "say('+plain', 1)",
    "begins what is not there": "say('+other', 1)",
    "begins the awaiting": "say('+@await')",
}


@pytest.mark.parametrize("attack", FORGED.values(), ids=FORGED)
def test_an_attack_ends_the_run(full: Sandbox, attack: str) -> None:
    functions = {"double": double, "plain": lambda number: number}
    control = (
        HOSTILE
        + f"""
assert say('plain', 5) == {{"value": 5}}
numbers = [say('+double', n)["value"] for n in range({MOST})]
said = []
say('@cancel', numbers.pop())
while len(said) < len(numbers):
    answer = say('@await') if len(said) % 2 else say('@await_until', 0.5)
    if "ended" in answer: said.append((answer["ended"], answer["value"]))
sorted(said)
"""
    )
    for result in both(full, control, lambda: functions):
        assert result.value == [(n + 1, 2 * n) for n in range(MOST - 1)], result
    for result in both(full, HOSTILE + attack + "\n'still here'", lambda: functions):
        assert (result.status, result.value) == ("killed", None), result
        assert result.error is not None
        assert result.error.message == "the worker's channel sent a malformed message"


def test_what_is_cancelled_counts_until_it_has_ended(full: Sandbox) -> None:
    """A worker that begins and cancels without end has no more of them run than a runner may."""
    now, most = 0, 0

    async def stubborn() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)  # sleeps: it takes its time
        finally:
            now -= 1

    attack = (
        HOSTILE
        + """
for _ in range(100):
    number = say('+stubborn')["value"]
    say('@await_until', 0.0)
    say('@cancel', number)
'done'
"""
    )
    for result in both(full, attack, lambda: {"stubborn": stubborn}):
        assert result.value == "done", result
        assert 1 <= most <= MOST
        now = most = 0


ATTACKS = {
    "its frame": "c = ask()\nloot = c.cr_frame.f_globals['SECRET']",
    "its frame by a name made at run time": "c = ask()\nloot = getattr(getattr(c, 'cr_' + 'frame'), 'f_glo' + 'bals')['SECRET']",
    "its code": "c = ask()\nloot = c.cr_code.co_filename",
    "what it awaits": "c = ask()\nc.send(None)\nloot = c.cr_await",
    "its task's frame": """
        import asyncio
        async def main():
            task = asyncio.create_task(ask())
            await asyncio.sleep(0)
            return task.get_stack()[0].f_globals['SECRET']
        loot = asyncio.run(main())
        """,
    "its task's coroutine": """
        import asyncio
        async def main():
            return asyncio.create_task(ask()).get_coro().cr_frame.f_globals['SECRET']
        loot = asyncio.run(main())
        """,
    "the frame of its failure": """
        import asyncio
        try:
            asyncio.run(ask('fail'))
        except LookupError as error:
            entry = error.__traceback__
            while entry.tb_next:
                entry = entry.tb_next
            loot = entry.tb_frame.f_globals['SECRET']
        """,
    "its globals": "loot = ask.__globals__['SECRET']",
    "inspect": "import inspect\nc = ask()\nloot = inspect.getcoroutinelocals(c)['kept']",
    "a future of the host's set by the program": """
        import asyncio
        async def main():
            coroutine = ask()
            future = coroutine.send(None)
            future.set_result('{"value": 1}')
            try:
                coroutine.send(None)
            except StopIteration as stop:
                return stop.value
        loot = asyncio.run(main())
        """,
}

SECRET = "the caller's own"


def given() -> Callable[..., Any]:
    kept = [SECRET]

    async def ask(argument: object = None) -> object:
        future = asyncio.get_running_loop().create_future() if argument is None else None
        if future is not None:
            await future
        if argument == "fail":
            raise LookupError("no such")
        return [kept[0], SECRET]

    return ask


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")  # by the control
@pytest.mark.parametrize("source", ATTACKS.values(), ids=ATTACKS)
def test_nothing_of_ours_is_reached(box: Sandbox, source: str) -> None:
    source = textwrap.dedent(source)
    plain: dict[str, Any] = {"ask": given(), "SECRET": SECRET, "__name__": "__main__"}

    def control() -> object:
        if "send(None)\nloot" not in source:
            exec(source, plain)
        else:  # needs a running loop in plain Python as well

            async def main() -> None:
                exec(source, plain)

            asyncio.run(main())
        return plain.get("loot")

    assert control(), "the attack does nothing in plain Python: it proves nothing"
    result = box.run(source, functions={"ask": given()}, timeout=2)
    assert result.status in {"refused", "exception"}, result
    assert SECRET not in repr(result)
