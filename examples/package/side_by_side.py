"""A program, as a model could have written it, asks its host for several things at a time.

    PYTHONPATH=build/release/python python3 examples/package/side_by_side.py

The host's functions are coroutine functions, so the program awaits them, and they run side by side
in the host's event loop.
"""

import asyncio

from belljar import AsyncSandbox

PROGRAM = """
import asyncio

async def warmest(cities):
    reports = await asyncio.gather(*(weather(city) for city in cities))
    return max(zip(reports, cities))

async def main():
    try:
        async with asyncio.timeout(0.1):
            await traffic("Rom")
    except TimeoutError:
        print("no news of the traffic")
    return await warmest(["Rom", "Oslo", "Lima"])

degrees, city = asyncio.run(main())
f"{city}, {degrees} degrees"
"""

ARRIVED = []


async def weather(city: str) -> int:
    """Stands for a request; it ends once all three are there."""
    ARRIVED.append(city)
    while len(ARRIVED) < 3:
        await asyncio.sleep(0)
    return {"Rom": 31, "Oslo": 18, "Lima": 22}[city]


async def traffic(city: str) -> str:
    """Takes too long for this program, which cancels it."""
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        print(f"traffic in {city}: nobody waits any more")
        raise
    return "none"


async def main() -> None:
    async with AsyncSandbox("basic", timeout=10) as box:
        result = await box.run(PROGRAM, functions={"weather": weather, "traffic": traffic})
    result.raise_for_status()
    print("the program printed:", result.stdout.strip())
    print("its value:", result.value)


asyncio.run(main())
