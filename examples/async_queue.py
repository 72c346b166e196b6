"""Workers that take jobs from a queue, with a timeout and errors that are collected."""

import asyncio
import contextvars

worker_name = contextvars.ContextVar("worker_name")


async def fetch(job: int) -> str:
    """Simulates slow work; every fourth job takes too long."""
    await asyncio.sleep(10 if job % 4 == 3 else 0.001)
    return f"page {job}"


async def worker(name: str, jobs: asyncio.Queue, pages: dict[int, str]) -> None:
    worker_name.set(name)
    while True:
        job = await jobs.get()
        try:
            async with asyncio.timeout(0.5):
                pages[job] = await fetch(job)
        except TimeoutError:
            pages[job] = "too slow"
        finally:
            jobs.task_done()


async def check(pages: dict[int, str], job: int) -> None:
    if pages[job] == "too slow":
        raise ValueError(f"job {job} was {pages[job]}")


async def main() -> None:
    jobs: asyncio.Queue[int] = asyncio.Queue()
    for job in range(8):
        jobs.put_nowait(job)
    pages: dict[int, str] = {}
    workers = [asyncio.create_task(worker(f"w{n}", jobs, pages)) for n in range(3)]
    await jobs.join()
    for task in workers:
        task.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    print(all(task.cancelled() for task in workers), worker_name.get("no name outside"))
    for job in sorted(pages):
        print(job, pages[job])
    try:
        async with asyncio.TaskGroup() as group:
            for job in pages:
                group.create_task(check(pages, job), name=f"check {job}")
    except ExceptionGroup as errors:
        print(errors.message, sorted(str(error) for error in errors.exceptions))


asyncio.run(main())
