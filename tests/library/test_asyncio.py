"""asyncio and contextvars do under the policy what they do in plain CPython."""

from __future__ import annotations

import os
import subprocess
import textwrap
from pathlib import Path

import pytest

from tests.policy.harness import assert_runs, assert_same, assert_stopped, run

SAME = {
    "gather keeps the order of its arguments": """
        async def work(n):
            await asyncio.sleep(0.01 * (3 - n))
            print("done", n)
            return n
        async def main():
            print(await asyncio.gather(*[work(n) for n in range(3)]))
            print(await asyncio.gather())
        asyncio.run(main())
        """,
    "gather with exceptions": """
        async def fail(n):
            await asyncio.sleep(0)
            raise ValueError(n)
        async def fine():
            return "fine"
        async def main():
            print(await asyncio.gather(fail(1), fine(), fail(2), return_exceptions=True))
            try:
                await asyncio.gather(fail(3), fine())
            except ValueError as error:
                print(repr(error))
        asyncio.run(main())
        """,
    "tasks run in the order of their making, a step at a time": """
        async def steps(name):
            for i in range(3):
                print(name, i)
                await asyncio.sleep(0)
        async def main():
            tasks = [asyncio.create_task(steps(n)) for n in "abc"]
            print(len(asyncio.all_tasks()), asyncio.current_task() in asyncio.all_tasks())
            for task in tasks: await task
        asyncio.run(main())
        """,
    "timers run in the order of their times": """
        async def main():
            loop = asyncio.get_running_loop()
            for delay in (0.03, 0.01, 0.02):
                loop.call_later(delay, print, delay)
            loop.call_at(loop.time() + 0.005, print, "at")
            loop.call_soon(print, "soon")
            dropped = loop.call_later(0.001, print, "dropped")
            dropped.cancel()
            print(dropped.cancelled(), dropped.when() > 0)
            await asyncio.sleep(0.05)
        asyncio.run(main())
        """,
    "many timers, most of them cancelled": """
        async def main():
            loop = asyncio.get_running_loop()
            handles = [loop.call_later(0.01 + i / 1e5, print, i) for i in range(300)]
            for handle in handles[:295]: handle.cancel()
            await asyncio.sleep(0.03)
        asyncio.run(main())
        """,
    "cancellation, and refusing it": """
        async def stubborn():
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError as error:
                print("cancelled", error.args)
                return "stayed"
        async def polite():
            try:
                await asyncio.sleep(10)
            finally:
                print("cleaned up")
        async def main():
            one, two = asyncio.create_task(stubborn()), asyncio.create_task(polite())
            await asyncio.sleep(0)
            print(one.cancel("because"), two.cancel(), one.cancelling(), two.uncancel())
            print(await one)
            try:
                await two
            except asyncio.CancelledError:
                print(two.cancelled(), two.done(), one.cancelled())
        asyncio.run(main())
        """,
    "what is left is cancelled at the end": """
        async def left():
            try:
                await asyncio.sleep(10)
            finally:
                print("left is gone")
        async def main():
            asyncio.create_task(left(), name="left")
            await asyncio.sleep(0)
            print("main is gone")
        asyncio.run(main())
        """,
    "timeouts": """
        async def main():
            try:
                async with asyncio.timeout(0.01) as limit:
                    await asyncio.sleep(10)
            except TimeoutError as error:
                print(repr(error), limit.expired())
            async with asyncio.timeout(None) as limit:
                limit.reschedule(asyncio.get_running_loop().time() + 10)
                await asyncio.sleep(0)
            print(limit.expired(), limit)
            try:
                await asyncio.wait_for(asyncio.sleep(10), timeout=0.01)
            except asyncio.TimeoutError as error:
                print(repr(error))
            print(await asyncio.wait_for(asyncio.sleep(0, "quick"), 10))
            try:
                await asyncio.wait_for(asyncio.sleep(10), 0)
            except asyncio.exceptions.TimeoutError:
                print("at once")
        asyncio.run(main())
        """,
    "a task group collects errors and cancels the others": """
        async def fail(n):
            await asyncio.sleep(0)
            raise ValueError(n)
        async def slow():
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                print("slow was cancelled")
                raise
        async def main():
            async with asyncio.TaskGroup() as group:
                fine = group.create_task(asyncio.sleep(0, "fine"), name="fine")
            print(fine.get_name(), fine.result())
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(fail(1))
                    group.create_task(fail(2))
                    group.create_task(slow())
            except ExceptionGroup as errors:
                print(errors.message, errors.exceptions)
        asyncio.run(main())
        """,
    "wait, as_completed, shield": """
        async def after(delay):
            await asyncio.sleep(delay)
            return delay
        async def main():
            tasks = {asyncio.create_task(after(n / 50)) for n in (1, 200, 300)}
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            print(len(done), len(pending))
            done, pending = await asyncio.wait(pending, timeout=0.001)
            print(len(done), len(pending))
            for task in pending: task.cancel()
            for next_one in asyncio.as_completed([after(0.4), after(0.01)]):
                print(await next_one)
            inner = asyncio.ensure_future(after(0.01))
            outer = asyncio.shield(inner)
            outer.cancel()
            try:
                await outer
            except asyncio.CancelledError:
                print(inner.cancelled(), await inner)
            try:
                await asyncio.wait([after(1)])
            except TypeError as error:
                print(error)
        asyncio.run(main())
        """,
    "a queue with producers and consumers": """
        async def produce(queue):
            for i in range(5):
                await queue.put(i)
                print("put", i)
        async def consume(queue):
            while True:
                print("got", await queue.get())
                queue.task_done()
        async def main():
            queue = asyncio.Queue(maxsize=2)
            consumer = asyncio.create_task(consume(queue))
            await produce(queue)
            await queue.join()
            consumer.cancel()
            try:
                queue.get_nowait()
            except asyncio.QueueEmpty as error:
                print(repr(error), queue.empty(), queue.full(), queue.maxsize, queue)
        asyncio.run(main())
        """,
    "queues of other orders, and a queue of one's own": """
        class Unique(asyncio.Queue):
            def _init(self, maxsize): self._queue = {}
            def _put(self, item): self._queue[item] = None
            def _get(self): return self._queue.pop(next(iter(self._queue)))
        async def main():
            for kind in (asyncio.PriorityQueue, asyncio.LifoQueue, asyncio.Queue, Unique):
                queue = kind()
                for item in (3, 1, 2, 3): queue.put_nowait(item)
                print([await queue.get() for _ in range(queue.qsize())])
        asyncio.run(main())
        """,
    "locks": """
        async def user(name, lock, log):
            async with lock:
                log.append(name + " in")
                await asyncio.sleep(0)
                log.append(name + " out")
        async def main():
            for lock in (asyncio.Lock(), asyncio.Semaphore(2), asyncio.BoundedSemaphore(1)):
                log = []
                await asyncio.gather(*[user(n, lock, log) for n in "abc"])
                print(log, lock.locked())
            try:
                lock.release()
            except ValueError as error:
                print(error)
            event, condition = asyncio.Event(), asyncio.Condition()
            async def waiter():
                await event.wait()
                async with condition:
                    condition.notify_all()
                return "woke"
            task = asyncio.create_task(waiter())
            event.set()
            async with condition:
                await condition.wait()
            print(await task, event.is_set())
            barrier = asyncio.Barrier(3)
            print(sorted(await asyncio.gather(*[barrier.wait() for _ in range(3)])))
        asyncio.run(main())
        """,
    "futures and their callbacks": """
        async def main():
            loop = asyncio.get_running_loop()
            future = loop.create_future()
            future.add_done_callback(lambda f: print("called with", f.result()))
            print(future, future.remove_done_callback(print))
            loop.call_soon(future.set_result, 7)
            print(await future, future)
            try:
                future.set_result(8)
            except asyncio.InvalidStateError:  # its words differ: the C implementation has others
                print("set twice")
            failed = asyncio.Future()
            failed.set_exception(KeyError("k"))
            print(failed, repr(failed.exception()), asyncio.isfuture(failed))
            try:
                asyncio.Future().result()
            except asyncio.InvalidStateError:
                print("not set")
        asyncio.run(main())
        """,
    "generators that nobody finished are closed": """
        async def numbers():
            try:
                for i in range(10):
                    yield i
            finally:
                print("closed")
        async def main():
            async for n in numbers():
                print(n)
                if n == 1: break
            print([n async for n in numbers() if n % 4 == 0])
            kept = numbers()
            print(await anext(kept))
            return kept
        asyncio.run(main())
        """,
    "the older way to run a loop": """
        async def main(x):
            await asyncio.sleep(0)
            return x
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        print(loop.run_until_complete(main(1)), loop.is_running(), loop.is_closed())
        loop.call_soon(loop.stop)
        loop.run_forever()
        print(asyncio.get_event_loop() is loop)
        loop.close()
        try:
            loop.run_until_complete(asyncio.Future(loop=loop))
        except RuntimeError as error:
            print(error)
        with asyncio.Runner() as runner:
            print(runner.run(main(2)), runner.run(main(3)))
        """,
    "misuse": """
        async def main():
            try:
                asyncio.run(asyncio.sleep(0))
            except RuntimeError as error:
                print(error)
            try:
                asyncio.create_task(print)
            except TypeError as error:
                print(error)
            async def again():
                await task
            task = asyncio.create_task(again())
            try:
                await task
            except RuntimeError as error:
                print(str(error).partition(":")[0])
        for wrong in (main, 3):
            try:
                asyncio.run(wrong)
            except (ValueError, TypeError) as error:  # the latter since 3.14
                print(str(error)[:32])
        try:
            asyncio.get_running_loop()
        except RuntimeError as error:
            print(error)
        asyncio.run(main())
        """,
    "exceptions come out of run()": """
        async def main():
            raise LookupError("from main")
        try:
            asyncio.run(main())
        except LookupError as error:
            print(repr(error))
        async def leave():
            raise SystemExit(3)
        try:
            asyncio.run(leave())
        except SystemExit as error:
            print(error.code)
        """,
    "a handler is told of what nobody caught": """
        async def main():
            loop = asyncio.get_running_loop()
            def told(loop, context):
                print(sorted(context), context["message"], repr(context.get("exception")))
            loop.set_exception_handler(told)
            print(loop.get_exception_handler() is told)
            loop.call_soon(lambda: 1 / 0)
            await asyncio.sleep(0.001)
            async def fail(): raise ValueError("unseen")
            task = asyncio.create_task(fail())
            await asyncio.sleep(0.001)
            del task
            loop.call_exception_handler({"message": "by hand"})
        asyncio.run(main())
        """,
    "a task factory": """
        async def main():
            loop = asyncio.get_running_loop()
            made = []
            def factory(loop, coro, context=None, name=None):
                made.append(coro.__name__)
                return asyncio.Task(coro, loop=loop, context=context)
            loop.set_task_factory(factory)
            print(await asyncio.create_task(asyncio.sleep(0, 5), name="named"), made)
            print(loop.get_task_factory() is factory)
        asyncio.run(main())
        """,
    "awaitables and coroutine-like objects": """
        class Later:
            def __await__(self):
                yield from asyncio.sleep(0).__await__()
                return "later"
        async def main():
            print(await Later(), await asyncio.gather(Later()))
            print(asyncio.iscoroutinefunction(main), asyncio.iscoroutinefunction(print))
            coro = asyncio.sleep(0)
            print(asyncio.iscoroutine(coro), asyncio.iscoroutine(main))
            await coro
        asyncio.run(main())
        """,
    "names of modules within": """
        from asyncio import Queue, TaskGroup
        from asyncio.exceptions import CancelledError
        from asyncio.queues import QueueFull
        print(CancelledError is asyncio.CancelledError, QueueFull is asyncio.QueueFull)
        print(issubclass(CancelledError, Exception), asyncio.TimeoutError is TimeoutError)
        """,
    "each task has its own context": """
        import contextvars
        who = contextvars.ContextVar("who", default="nobody")
        async def work(name):
            token = who.set(name)
            await asyncio.sleep(0)
            print(who.get(), token.old_value is contextvars.Token.MISSING, token.var is who)
            who.reset(token)
            print(who.get())
        async def main():
            await asyncio.gather(work("a"), work("b"))
            print(who.get())
            context = contextvars.copy_context()
            print(context.run(who.set, "inside") is None, context[who], who.get())
            task = asyncio.create_task(asyncio.sleep(0), context=context)
            await task
        asyncio.run(main())
        """,
    "ten thousand tasks": """
        async def one(i):
            await asyncio.sleep(0)
            return i
        async def main():
            return sum(await asyncio.gather(*[one(i) for i in range(10_000)]))
        print(asyncio.run(main()))
        """,
}


@pytest.mark.parametrize("source", SAME.values(), ids=SAME.keys())
def test_same_as_plain_python(source: str) -> None:
    ran = assert_same("import asyncio\n" + textwrap.dedent(source))
    assert ran.stdout


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("asyncio.open_connection('localhost', 80)", "open_connection() needs sockets"),
        ("asyncio.start_server(print)", "start_server() needs sockets"),
        ("asyncio.create_subprocess_exec('true')", "starts a program"),
        ("asyncio.create_subprocess_shell('true')", "starts a program"),
        ("asyncio.set_event_loop_policy(None)", "which is fixed"),
        ("loop.create_connection(print)", "needs descriptors"),
        ("loop.getaddrinfo('localhost', 80)", "needs descriptors"),
        ("loop.add_reader(0, print)", "needs descriptors"),
        ("loop.connect_read_pipe(print, None)", "needs descriptors"),
        ("loop.subprocess_exec(print, 'true')", "starts a program"),
        ("loop.add_signal_handler(2, print)", "needs signals"),
        ("asyncio.current_task().get_stack()", "returns frames"),
        ("asyncio.current_task().print_stack()", "returns frames"),
    ],
)
def test_what_is_not_here_says_why(call: str, reason: str) -> None:
    ran = assert_stopped(
        f"""
        import asyncio
        async def main():
            loop = asyncio.get_running_loop()
            {call}
        asyncio.run(main())
        """,
        reason,
    )
    assert ran.error == "PermissionError" and ran.message.startswith("[BJ502] ")


def test_a_loop_that_nothing_can_wake_says_so_and_cleans_up() -> None:
    ran = run(
        """
        import asyncio
        async def main():
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                print("cleaned up")
        asyncio.run(main())
        """
    )
    assert ran.error == "RuntimeError" and "[BJ502] every task waits" in ran.message
    assert ran.stdout == "cleaned up\n"


def test_what_nobody_caught_goes_to_stderr_as_logging_writes_it() -> None:
    program = """
        import asyncio, contextlib, io
        async def fail():
            try:
                {}[1]
            except KeyError as error:
                raise ValueError("unseen") from error
        async def main():
            task = asyncio.create_task(fail())
            await asyncio.sleep(0)
            del task
        with contextlib.redirect_stderr(io.StringIO()) as written:
            asyncio.run(main())
        lines = written.getvalue().splitlines()
        print([line for line in lines if not line.startswith("future:") and "^" not in line])
        """
    assert_same(program)
    assert "ValueError: unseen" in assert_runs(program).stdout


def test_debug_mode_is_kept_and_records_no_stacks() -> None:
    ran = assert_runs(
        """
        import asyncio
        async def main():
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda loop, context: print(sorted(context)))
            loop.call_soon(lambda: 1 / 0)
            await asyncio.sleep(0)
            print(loop.get_debug(), loop.create_future())
        asyncio.run(main(), debug=True)
        """
    )
    assert ran.stdout == "['exception', 'handle', 'message']\nTrue <Future pending>\n"


@pytest.mark.parametrize("policy", ["on", "off"])
def test_in_a_sealed_worker(policy: str, tmp_path: Path) -> None:
    """The system calls of a worker suffice, and with the policy off the same loop is there."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
        import asyncio
        async def work(n):
            async with asyncio.timeout(5):
                await asyncio.sleep(0.001)
            return n
        async def main():
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(work(n)) for n in range(100)]
            return sum(task.result() for task in tasks)
        print(asyncio.run(main()))
        """)
    )
    belljar = Path(os.environ["BELLJAR_BUILD"]) / "belljar"
    done = subprocess.run(
        [belljar, "run", "--policy", policy, program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "4950\n"), done.stderr
