import asyncio


async def step(n):
    await asyncio.sleep(0)
    print("step", n)
    if n == 2:
        raise LookupError(f"step {n} is missing")
    return n


async def main():
    try:
        for n in range(5):
            await step(n)
    finally:
        print("closing")


asyncio.run(main())
