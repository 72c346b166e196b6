import asyncio
import time


async def say(what, delay, log):
    await asyncio.sleep(delay)
    log.append(what)
    print("said", what)
    return what.upper()


async def countdown(name, n):
    while n > 0:
        print(f"{name}: {n}")
        n -= 1
        await asyncio.sleep(0)
    return f"{name} done"


async def fails(after):
    await asyncio.sleep(after)
    raise ValueError(f"failed after {after}")


async def ticker(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0.001)


class Connection:
    def __init__(self, name): self.name = name

    async def __aenter__(self):
        await asyncio.sleep(0)
        print("open", self.name)
        return self

    async def __aexit__(self, kind, value, tb):
        await asyncio.sleep(0)
        print("close", self.name, kind.__name__ if kind else None)
        return kind is KeyError

    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return f"awaited {self.name}"


class Countdown:
    def __init__(self, n): self.n = n
    def __aiter__(self): return self

    async def __anext__(self):
        if self.n == 0:
            raise StopAsyncIteration
        self.n -= 1
        return self.n


async def main():
    log = []
    start = time.monotonic()
    print(await asyncio.gather(say("b", 0.02, log), say("a", 0.01, log), say("c", 0.03, log)))
    print(log, time.monotonic() - start < 5)
    print(await asyncio.gather(countdown("x", 2), countdown("y", 3)))
    results = await asyncio.gather(fails(0.001), say("ok", 0, log), return_exceptions=True)
    print([repr(r) for r in results])
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(10)
    except TimeoutError:
        print("timeout")
    try:
        await asyncio.wait_for(asyncio.sleep(10), timeout=0.005)
    except asyncio.TimeoutError as e:
        print("wait_for", type(e).__name__)
    task = asyncio.create_task(asyncio.sleep(10), name="sleeper")
    await asyncio.sleep(0)
    print(task.get_name(), task.done(), task.cancel())
    try:
        await task
    except asyncio.CancelledError:
        print("cancelled", task.cancelled())
    print([i async for i in ticker(4) if i % 2], [x async for x in Countdown(3)], {i: await Connection(str(i)) for i in range(2)})
    async with Connection("db") as db, Connection("cache"):
        print("using", db.name)
        raise KeyError("swallowed by cache")
    done, pending = await asyncio.wait([asyncio.create_task(say(str(i), i, log)) for i in range(3)], return_when=asyncio.FIRST_COMPLETED)
    print(len(done), len(pending), done.pop().result())
    for p in pending: p.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    for next_done in asyncio.as_completed([say("slow", 0.5, log), say("fast", 0.001, log)]):
        print("completed", await next_done)
    return len(log)


print(asyncio.run(main()))
coro = main()
print(asyncio.iscoroutine(coro), type(coro).__name__, asyncio.iscoroutinefunction(main)); coro.close()
try: asyncio.run(fails(0))
except ValueError as e: print("run raised", e)
