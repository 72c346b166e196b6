"""What a program of profile network awaits: the caller's functions, and time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from belljar import AsyncSandbox, Sandbox
from belljar._async import around

from tests.clocks import HANG

PROGRAM = """
import asyncio

async def tick():
    ticks = 0
    while not done:
        await asyncio.sleep(0.001)  # sleeps: what ticks beside the calls
        ticks += 1
    return ticks

async def main():
    task = asyncio.create_task(tick())
    got = await asyncio.gather(*(fetch(n) for n in range(3)))
    done.append(True)
    return got, await task > 0

done = []
asyncio.run(main())
"""
# sleeps: a timer of its own, before the calls
AT_THE_TOP = "import asyncio\nawait asyncio.sleep(0.001)\n(await fetch(1), await fetch(2))"


@pytest.fixture(scope="module")
def network() -> Iterator[Sandbox]:
    with Sandbox("network", spares=1) as sandbox:
        yield sandbox


async def fetch(number: int) -> int:
    await asyncio.sleep(0)
    return number * 10


@pytest.mark.parametrize(
    ("program", "value"), [(PROGRAM, ([0, 10, 20], True)), (AT_THE_TOP, (10, 20))]
)
def test_functions_and_time_side_by_side(network: Sandbox, program: str, value: object) -> None:
    result = network.run(program, functions={"fetch": fetch})
    assert result.ok, result.error
    assert result.value == value

    async def main(shared: AsyncSandbox) -> object:
        return (await shared.run(program, functions={"fetch": fetch})).value

    assert asyncio.run(asyncio.wait_for(main(around(network)), HANG)) == value


def test_a_failure_of_one_is_an_exception_there(network: Sandbox) -> None:
    async def failing(number: int) -> int:
        raise KeyError(number)

    result = network.run(
        "try: await fetch(1)\nexcept KeyError as error: print('caught', error)",
        functions={"fetch": failing},
    )
    assert result.stdout == "caught '1'\n"
