"""Producers, consumers, locks, semaphores, events, conditions, task groups."""
import asyncio
import contextvars
import random
from contextlib import asynccontextmanager

request = contextvars.ContextVar("request", default="none")


async def producer(queue, name, count, rng):
    for i in range(count):
        await asyncio.sleep(rng.choice([0, 0.001]))
        await queue.put((name, i))
    print(name, "finished")


async def consumer(queue, out):
    while True:
        item = await queue.get()
        try:
            if item is None:
                return
            out.append(item)
        finally:
            queue.task_done()


class Account:
    def __init__(self):
        self.balance, self._lock = 100, asyncio.Lock()

    async def add(self, amount):
        async with self._lock:
            before = self.balance
            await asyncio.sleep(0)
            self.balance = before + amount


@asynccontextmanager
async def span(name):
    token = request.set(name)
    try:
        yield request.get()
    finally:
        request.reset(token)


async def worker(sem, n, active):
    async with sem:
        active[0] += 1
        active[1] = max(active)
        await asyncio.sleep(0.001)
        active[0] -= 1
        return n * n


async def boom(kind, text, delay=0):
    await asyncio.sleep(delay)
    raise kind(text)


async def main():
    queue, out = asyncio.Queue(maxsize=2), []
    rng = random.Random(1)
    consumers = [asyncio.create_task(consumer(queue, out)) for _ in range(2)]
    await asyncio.gather(producer(queue, "p1", 3, rng), producer(queue, "p2", 3, rng))
    await queue.join()
    for _ in consumers: await queue.put(None)
    await asyncio.gather(*consumers)
    print(sorted(out), queue.qsize(), queue.empty(), queue.maxsize)

    account = Account()
    await asyncio.gather(*(account.add(n) for n in range(10)))
    active = [0, 0]
    sem = asyncio.Semaphore(3)
    print(account.balance, await asyncio.gather(*(worker(sem, i, active) for i in range(6))), active)

    event, order = asyncio.Event(), []
    async def waiter(name):
        await event.wait()
        order.append(name)
    tasks = [asyncio.create_task(waiter(n)) for n in "abc"]
    await asyncio.sleep(0)
    event.set()
    await asyncio.wait(tasks)
    print(order, event.is_set())

    async def inner():
        async with span("inner") as s:
            return s, request.get()
    async with span("outer"):
        print(await asyncio.gather(inner(), asyncio.create_task(inner())), request.get())
    print(request.get())

    try:
        async with asyncio.TaskGroup() as group:
            good = group.create_task(asyncio.sleep(0, "good"))
            group.create_task(boom(ValueError, "one"))
            group.create_task(boom(TypeError, "two"))
            group.create_task(asyncio.sleep(10))
    except* ValueError as eg:
        print("values", [str(e) for e in eg.exceptions])
    except* TypeError as eg:
        print("types", eg.message, [str(e) for e in eg.exceptions], good.result())
    pq = asyncio.PriorityQueue()
    for p in (3, "c"), (1, "a"), (2, "b"): pq.put_nowait(p)
    print([pq.get_nowait()[1] for _ in range(pq.qsize())])
    try: pq.get_nowait()
    except asyncio.QueueEmpty as e: print(type(e).__name__)
    loop, calls = asyncio.get_running_loop(), []
    fut = loop.create_future()
    loop.call_soon(calls.append, "soon"); loop.call_later(0.002, fut.set_result, 42)
    print(await fut, calls, fut.done(), await asyncio.shield(asyncio.sleep(0, "shielded")))


if __name__ == "__main__":
    asyncio.run(main())
