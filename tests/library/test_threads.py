"""threading, queue, concurrent.futures, multiprocessing.Pool and sched do under the policy what they
do in plain CPython, in programs whose output does not depend on who is faster."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tests.policy.harness import assert_runs, assert_same, run

SAME = {
    "a producer and consumers with a bounded queue": """
        import queue, threading, time
        jobs, done = queue.Queue(maxsize=2), queue.Queue()
        def produce():
            for i in range(6): jobs.put(i)
            for _ in range(2): jobs.put(None)
        def consume():
            while (job := jobs.get()) is not None:
                time.sleep(0.001)
                done.put(job * job)
                jobs.task_done()
        threads = [threading.Thread(target=produce)]
        threads += [threading.Thread(target=consume) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(sorted(done.queue), jobs.empty(), jobs.unfinished_tasks, done.qsize())
        """,
    "a queue's join waits for the tasks": """
        import queue, threading, time
        work, out = queue.Queue(), []
        def worker():
            while True:
                item = work.get()
                time.sleep(0.001)
                out.append(item)
                work.task_done()
        threading.Thread(target=worker, daemon=True).start()
        for i in range(5): work.put(i)
        work.join()
        print(out)
        try: work.task_done()
        except ValueError as error: print(error)
        """,
    "queues that are full or empty": """
        import queue
        q = queue.Queue(1)
        q.put(1)
        for call in (q.put_nowait, lambda item: q.put(item, timeout=0.01), lambda item: q.put(item, False)):
            try: call(2)
            except queue.Full as error: print(repr(error))
        print(q.get(), q.full(), q.empty())
        for call in (q.get_nowait, lambda: q.get(timeout=0.01), lambda: queue.SimpleQueue().get(timeout=0)):
            try: call()
            except queue.Empty as error: print(repr(error))
        try: q.get(timeout=-1)
        except ValueError as error: print(error)
        """,
    "orders of queues, and one of the program's own": """
        import queue
        for kind in (queue.LifoQueue, queue.PriorityQueue, queue.Queue, queue.SimpleQueue):
            q = kind()
            for item in (3, 1, 2): q.put(item)
            print(kind.__name__, [q.get() for _ in range(3)])
        class Unique(queue.Queue):
            def _init(self, maxsize): self.queue = set()
            def _put(self, item): self.queue.add(item)
            def _get(self): return self.queue.pop()
        q = Unique()
        for _ in range(3): q.put("same")
        print(q.qsize(), q.get())
        q = queue.Queue()
        for i in range(3): q.put(i)
        with q.mutex: q.queue.clear()
        print(q.qsize())
        """,
    "threads with names, daemons and results": """
        import threading
        class Squares(threading.Thread):
            def __init__(self, number):
                super().__init__(name=f"square-{number}")
                self.number, self._private, self.result = number, 1, None
            def run(self):
                self.result = self.number ** 2
        threads = [Squares(i) for i in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print([(t.name, t.result, t.is_alive(), t.daemon) for t in threads])
        class Returning(threading.Thread):
            def run(self):
                if self._target is not None:
                    self._returned = self._target(*self._args, **self._kwargs)
            def join(self, timeout=None):
                super().join(timeout)
                return self._returned
        thread = Returning(target=pow, args=(2, 5))
        thread.start()
        print(thread.join())
        thread = threading.Thread(target=print, args=("a", "b"), kwargs={"sep": "-"}, daemon=True)
        thread.name = "renamed"
        print(thread.name, thread.daemon, thread.ident)
        thread.start(); thread.join()
        print(thread.ident is None, threading.current_thread() is threading.main_thread())
        print(threading.main_thread().name, threading.active_count(), len(threading.enumerate()))
        """,
    "default names": """
        import threading
        def work(): print(threading.current_thread().name)
        for _ in range(2):
            thread = threading.Thread(target=work)
            thread.start(); thread.join()
        print(threading.Thread().name)
        """,
    "errors of use": """
        import threading
        thread = threading.Thread(target=int)
        for call in (thread.join, lambda: (thread.start(), thread.join(), thread.start()),
                     threading.current_thread().join, threading.Lock().release, threading.RLock().release,
                     threading.Condition().wait, threading.Condition().notify,
                     threading.BoundedSemaphore(1).release, lambda: threading.Semaphore(-1),
                     lambda: threading.Lock().acquire(False, 1)):
            try: call()
            except (RuntimeError, ValueError) as error: print(type(error).__name__, error)
        class Forgets(threading.Thread):
            def __init__(self): pass
        try: Forgets().start()
        except RuntimeError as error: print(error)
        """,
    "a counter with a lock": """
        import threading
        counter, lock = 0, threading.Lock()
        def count():
            global counter
            for _ in range(1000):
                with lock: counter += 1
        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(counter, lock.locked(), lock.acquire(blocking=False), lock.acquire(False), lock.acquire(timeout=0.01))
        """,
    "an RLock is taken again by its owner only": """
        import threading
        lock = threading.RLock()
        def other(): print("other", lock.acquire(blocking=False))
        with lock:
            with lock:
                thread = threading.Thread(target=other); thread.start(); thread.join()
        thread = threading.Thread(target=other); thread.start(); thread.join()
        """,
    "an RLock that is handed on belongs to the next thread at once": """
        import threading, time
        lock, inside, most = threading.RLock(), 0, 0
        def work():
            global inside, most
            for _ in range(3):
                with lock:
                    inside += 1; most = max(most, inside)
                    time.sleep(0.001)
                    inside -= 1
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(most)
        """,
    "times of other types": """
        import threading, time
        class Short(float): pass
        class Index:
            def __index__(self): return 0
        event = threading.Event()
        threading.Thread(target=time.sleep, args=(0.01,)).start()
        time.sleep(Short(0.001)); time.sleep(Index()); time.sleep(True and 0)
        print(event.wait(Short(0.001)))
        for wrong in ("1", None, -1):
            try: time.sleep(wrong)
            except (TypeError, ValueError) as error: print(error)
        """,
    "events": """
        import threading, time
        go, gone = threading.Event(), []
        def wait(): gone.append(go.wait())
        threads = [threading.Thread(target=wait) for _ in range(3)]
        for thread in threads: thread.start()
        print(go.is_set(), go.wait(0.01), gone)
        go.set()
        for thread in threads: thread.join()
        print(gone, go.is_set(), go.wait())
        go.clear()
        print(go.is_set())
        """,
    "a loop that polls an event": """
        import threading, time
        stop, rounds = threading.Event(), 0
        def work():
            global rounds
            while not stop.is_set(): rounds += 1
        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.01)
        stop.set(); thread.join()
        print(rounds > 0)
        """,
    "a loop that polls a thread": """
        import threading, time
        thread = threading.Thread(target=time.sleep, args=(0.01,))
        thread.start()
        while thread.is_alive(): pass
        print("over")
        """,
    "conditions": """
        import threading
        items, ready, got = [], threading.Condition(), []
        def take(n):
            with ready:
                print(ready.wait_for(lambda: items, timeout=5))
                got.append(items.pop())
        threads = [threading.Thread(target=take, args=(n,)) for n in range(3)]
        for thread in threads: thread.start()
        for n in range(3):
            with ready:
                items.append(n)
                ready.notify()
        for thread in threads: thread.join()
        print(sorted(got))
        with ready: print(ready.wait(0.01), ready.wait_for(lambda: False, 0.01))
        with threading.Condition(threading.Lock()) as held: print(held)
        """,
    "semaphores bound how many are inside": """
        import threading
        inside, most, limit = 0, 0, threading.Semaphore(2)
        counting, pair = threading.Lock(), threading.Barrier(2)
        def work():
            global inside, most
            with limit:
                with counting: inside += 1; most = max(most, inside)
                pair.wait()
                with counting: inside -= 1
        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(most, limit.acquire(False), limit.acquire(False), limit.acquire(False))
        limit.release(2)
        print(limit.acquire(timeout=0.01))
        """,
    "barriers": """
        import threading
        barrier, passed = threading.Barrier(3, action=lambda: passed.append("all")), []
        def meet():
            for _ in range(2): passed.append(barrier.wait())
        threads = [threading.Thread(target=meet) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(sorted(map(str, passed)), barrier.parties, barrier.n_waiting, barrier.broken)
        try: barrier.wait(0.01)
        except threading.BrokenBarrierError as error: print("broken", barrier.broken)
        barrier.reset()
        print(barrier.broken)
        barrier.abort()
        try: barrier.wait()
        except threading.BrokenBarrierError: print("aborted")
        """,
    "timers": """
        import threading, time
        first = threading.Timer(0.01, print, ["called"], {"end": "!\\n"})
        first.start(); first.join()
        timer = threading.Timer(5, print, ["never"])
        timer.start(); timer.cancel(); timer.join()
        class Every(threading.Timer):
            def run(self):
                while not self.finished.wait(self.interval): self.function(*self.args)
        ticks = []
        every = Every(0.005, ticks.append, (1,))
        every.start()
        while len(ticks) < 2: time.sleep(0.001)
        every.cancel(); every.join()
        print(ticks[:2])
        """,
    "thread-local values": """
        import threading
        class Settings(threading.local):
            depth = 0
            def __init__(self, start): self.start = start
        mine, settings = threading.local(), Settings(7)
        mine.value, settings.depth, settings.start = 1, 2, 3
        def look():
            print(hasattr(mine, "value"), settings.depth, settings.start)
            mine.value = 5
        thread = threading.Thread(target=look); thread.start(); thread.join()
        print(mine.value, settings.depth, settings.start, getattr(mine, "other", None))
        del mine.value
        print(hasattr(mine, "value"))
        """,
    "context variables and decimal contexts belong to a thread": """
        import contextvars, decimal, threading
        variable = contextvars.ContextVar("variable", default="none")
        variable.set("main"); decimal.getcontext().prec = 3
        def look():
            print(variable.get(), decimal.getcontext().prec)
            variable.set("thread"); decimal.getcontext().prec = 5
        thread = threading.Thread(target=look); thread.start(); thread.join()
        print(variable.get(), decimal.Decimal(1) / 3)
        """,
    "the exception that is handled belongs to a thread": """
        import threading, traceback
        go = threading.Event()
        def fail():
            try: raise ValueError("in the thread")
            except ValueError:
                go.wait()
                print(traceback.format_exc().splitlines()[-1])
        thread = threading.Thread(target=fail); thread.start()
        try: raise KeyError("in main")
        except KeyError:
            go.set(); thread.join()
            print(traceback.format_exc().splitlines()[-1])
        """,
    "generators that move between threads": """
        import threading, time
        def count():
            n = 0
            while True: n += 1; yield n
        numbers, lock, seen = count(), threading.Lock(), []
        def take():
            for _ in range(3):
                with lock: seen.append(next(numbers))
                time.sleep(0.001)
        threads = [threading.Thread(target=take) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(sorted(seen))
        """,
    "recursion in a thread": """
        import sys, threading
        def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
        def endless(): return endless()
        def work():
            print(depth(900))
            try: endless()
            except RecursionError as error: print(error)
            sys.setrecursionlimit(3000)
            print(depth(1200))
        thread = threading.Thread(target=work); thread.start(); thread.join()
        threading.stack_size(64 * 1024 * 1024)
        sys.setrecursionlimit(15000)
        thread = threading.Thread(target=lambda: print(depth(14000))); thread.start(); thread.join()
        threading.stack_size(128 * 1024 * 1024)
        sys.setrecursionlimit(10**6)
        print(sys.getrecursionlimit())
        thread = threading.Thread(target=lambda: print(depth(200_000))); thread.start(); thread.join()
        def overflow():
            sys.setrecursionlimit(1000)
            endless()
        thread = threading.Thread(target=overflow); thread.start(); thread.join()
        print("goes on")
        """,
    "a pool: map, submit, as_completed, wait": """
        import concurrent.futures as cf, time
        def square(n):
            time.sleep(0.05 * (4 - n))
            return n * n
        with cf.ThreadPoolExecutor(max_workers=4, thread_name_prefix="pool") as pool:
            print(list(pool.map(square, range(4))))
            futures = {pool.submit(square, n): n for n in range(4)}
            print([futures[f] for f in cf.as_completed(futures)])
            print(sorted(f.result() for f in futures))
            first, rest = cf.wait([pool.submit(square, n) for n in (0, 3)], return_when=cf.FIRST_COMPLETED)
            print(len(first), len(rest))
            done = cf.wait([pool.submit(square, n) for n in range(3)])
            print(len(done.done), len(done.not_done))
        """,
    "exceptions, callbacks and cancelling in a pool": """
        import concurrent.futures as cf, time
        def fail(): raise ValueError("no")
        with cf.ThreadPoolExecutor(1) as pool:
            future = pool.submit(fail)
            print(repr(future.exception()))
            try: future.result()
            except ValueError as error: print(error)
            try: list(pool.map(lambda n: 1 // n, [1, 0]))
            except ZeroDivisionError as error: print(error)
            slow = pool.submit(time.sleep, 0.05)
            waiting = pool.submit(print, "never")
            print(waiting.cancel(), waiting.cancelled(), waiting.done())
            try: waiting.result()
            except cf.CancelledError: print("cancelled")
            try: slow.result(timeout=0.001)
            except TimeoutError as error: print(isinstance(error, cf.TimeoutError))
            called = []
            future = pool.submit(int, "7")
            future.add_done_callback(lambda f: called.append(f.result()))
            cf.wait([future]); print(future.result(), called)
        try: pool.submit(int)
        except RuntimeError as error: print(error)
        """,
    "a pool with an initializer, nested": """
        import threading
        from concurrent.futures import ThreadPoolExecutor, Future, Executor
        local = threading.local()
        def begin(value): local.value = value
        with ThreadPoolExecutor(2, initializer=begin, initargs=(3,)) as pool:
            print([f.result() for f in [pool.submit(lambda: local.value) for _ in range(3)]])
        with ThreadPoolExecutor(2) as outer, ThreadPoolExecutor(2) as inner:
            print(outer.submit(lambda: inner.submit(pow, 2, 3).result()).result())
        future = Future(); future.set_result(1); print(future.result(), isinstance(pool, Executor))
        """,
    "asyncio with threads": """
        import asyncio, concurrent.futures, contextvars, threading, time
        variable = contextvars.ContextVar("variable", default=0)
        def work(n, more=0):
            time.sleep(0.005)
            return n + more + variable.get()
        async def ticks(out):
            for _ in range(3):
                out.append("tick")
                await asyncio.sleep(0.001)
        async def main():
            out = []
            variable.set(10)
            print(await asyncio.gather(asyncio.to_thread(work, 1, more=2), ticks(out)), out)
            loop = asyncio.get_running_loop()
            print(await loop.run_in_executor(None, work, 1))
            with concurrent.futures.ThreadPoolExecutor() as pool:
                print(await asyncio.gather(*[loop.run_in_executor(pool, work, n) for n in range(3)]))
                print(await asyncio.wrap_future(pool.submit(work, 5)))
            try: await asyncio.to_thread(int, "x")
            except ValueError as error: print(error)
            async def later(): await asyncio.sleep(0.001); return "later"
            def ask(): return asyncio.run_coroutine_threadsafe(later(), loop).result()
            print(await asyncio.to_thread(ask))
            event = asyncio.Event()
            threading.Timer(0.005, loop.call_soon_threadsafe, [event.set]).start()
            await event.wait()
            try: await asyncio.wait_for(asyncio.to_thread(time.sleep, 0.02), 0.001)
            except TimeoutError: print("timeout")
        asyncio.run(main())
        """,
    "an event loop in a thread": """
        import asyncio, threading
        async def main(): await asyncio.sleep(0.001); return threading.current_thread().name
        out = []
        thread = threading.Thread(target=lambda: out.append(asyncio.run(main())), name="loops")
        thread.start(); thread.join()
        print(out, asyncio.run(main()))
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever); thread.start()
        print(asyncio.run_coroutine_threadsafe(main(), loop).result(5) == thread.name)
        loop.call_soon_threadsafe(loop.stop); thread.join(); loop.close()
        """,
    "pools of multiprocessing": """
        from multiprocessing import Pool, TimeoutError, set_start_method
        set_start_method("fork")  # since 3.14 another one, for which the program must be a file
        from multiprocessing.pool import ThreadPool
        import time
        def square(n): return n * n
        if __name__ == "__main__":
            with Pool(3) as pool:
                print(pool.map(square, range(5)), pool.starmap(pow, [(2, 3), (3, 2)]), pool.apply(square, (4,)))
                print(list(pool.imap(square, range(3))), sorted(pool.imap_unordered(square, range(3))))
                result = pool.map_async(square, [1, 2])
                print(result.get(timeout=5), result.ready(), result.successful())
                try: pool.apply(int, ("x",))
                except ValueError as error: print(error)
                try: pool.apply_async(time.sleep, (1,)).get(timeout=0.01)
                except TimeoutError: print("timeout")
            with ThreadPool(2) as pool:
                out = []
                pool.apply_async(square, (3,), callback=out.append).wait()
                pool.close(); pool.join()
                print(out)
                try: pool.map(square, [1])
                except ValueError as error: print(error)
        """,
    "a pool of processes": """
        from concurrent.futures import ProcessPoolExecutor
        import multiprocessing
        multiprocessing.set_start_method("fork")
        def square(n): return n * n
        if __name__ == "__main__":
            with ProcessPoolExecutor(max_workers=2) as pool:
                print(list(pool.map(square, range(4), chunksize=2)), pool.submit(square, 5).result())
        """,
    "sched": """
        import sched, time
        scheduler = sched.scheduler(time.monotonic, time.sleep)
        out = []
        scheduler.enter(0.02, 1, out.append, argument=("late",))
        scheduler.enter(0.01, 2, out.append, ("second",))
        scheduler.enter(0.01, 1, out.append, ("first",))
        dropped = scheduler.enter(0.005, 1, out.append, ("dropped",))
        scheduler.cancel(dropped)
        print(len(scheduler.queue), scheduler.empty(), scheduler.run(), out, scheduler.empty())
        """,
    "logging names the thread": """
        import io, logging, threading
        out = io.StringIO()
        logging.basicConfig(stream=out, format="%(threadName)s %(message)s")
        thread = threading.Thread(target=logging.warning, args=("in it",), name="worker")
        thread.start(); thread.join()
        logging.warning("outside")
        print(out.getvalue())
        """,
}


@pytest.mark.parametrize("source", SAME.values(), ids=SAME.keys())
def test_same_as_cpython(source: str) -> None:
    assert_same(source)


def in_plain_python(source: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-c", textwrap.dedent(source)],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip


AT_THE_END = {
    "threads are waited for, daemons are not": """
        import threading
        ends = threading.Event()
        def late(): ends.wait(); print("late")
        def never(): threading.Event().wait(); print("never")
        threading.Thread(target=late).start()
        threading.Thread(target=never, daemon=True).start()
        print("main ends")
        ends.set()
        """,
    "threads started by threads, and pools that were not shut down": """
        import concurrent.futures, threading
        pool, ends = concurrent.futures.ThreadPoolExecutor(2), threading.Event()
        def work(n):
            ends.wait()
            print("work", n)
            if n < 3: threading.Thread(target=work, args=(n + 1,)).start()
        pool.submit(work, 1)
        print("main ends")
        ends.set()
        """,
}


@pytest.mark.parametrize("source", AT_THE_END.values(), ids=AT_THE_END.keys())
def test_the_end_of_the_program(source: str) -> None:
    plain = in_plain_python(source)
    assert plain.returncode == 0 and not plain.stderr
    assert assert_runs(source).stdout == plain.stdout


def test_an_exception_in_a_thread_is_shown_and_ends_only_the_thread() -> None:
    source = """
        import contextlib, io, sys, threading
        def fail(): raise ValueError("in the thread")
        def leave(): sys.exit(3)
        text = io.StringIO()
        with contextlib.redirect_stderr(text):
            for target in (fail, leave):
                thread = threading.Thread(target=target); thread.start(); thread.join()
        lines = text.getvalue().splitlines()
        print(lines[0], lines[-1])
        """
    plain = in_plain_python(source)
    assert assert_runs(source).stdout == plain.stdout
    assert "Exception in thread Thread-1 (fail):" in plain.stdout


DEADLOCKS = {
    "a lock taken twice": (
        "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()",
        "MainThread waits for a lock that MainThread acquired",
    ),
    "two locks in two orders": (
        """
        import threading, time
        a, b = threading.Lock(), threading.Lock()
        def work():
            with a:
                time.sleep(0.01)
                with b: pass
        thread = threading.Thread(target=work, name="other")
        thread.start()
        with b:
            with a: pass
        """,
        "other waits for a lock that MainThread acquired",
    ),
    "a queue that nobody fills": (
        "import queue\nqueue.Queue().get()",
        "MainThread waits for Condition.notify()",
    ),
    "an event that nobody sets, after the end of the program": (
        """
        import threading
        threading.Thread(target=threading.Event().wait, name="waiter").start()
        """,
        "MainThread waits for the end of waiter; waiter waits for Event.set()",
    ),
    "the end of a thread that waits for a barrier": (
        """
        import threading
        barrier = threading.Barrier(2)
        thread = threading.Thread(target=barrier.wait); thread.start(); thread.join()
        """,
        "waits for 1 more at a Barrier",
    ),
    "an event loop": (
        """
        import asyncio, threading
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        async def main(): await asyncio.Event().wait()
        asyncio.run(main())
        """,
        "MainThread waits for a task of its event loop",
    ),
}


@pytest.mark.parametrize(("source", "says"), DEADLOCKS.values(), ids=DEADLOCKS.keys())
def test_a_deadlock_is_an_error(source: str, says: str) -> None:
    ran = run(source)
    assert ran.error == "RuntimeError", (ran.message, ran.findings)
    assert ran.message.startswith("[BJ502] deadlock: every thread waits")
    assert all(part in ran.message for part in says.split("; "))


def test_a_program_can_catch_a_deadlock() -> None:
    ran = assert_runs("""
        import threading
        lock = threading.Lock()
        lock.acquire()
        for _ in range(2):
            try: lock.acquire()
            except RuntimeError: print("caught")
        lock.release()
        print(lock.acquire())
        """)
    assert ran.stdout == "caught\ncaught\nTrue\n"


def test_the_number_of_threads_is_bounded() -> None:
    ran = assert_runs("""
        import threading
        go, started = threading.Event(), 0
        try:
            while True:
                threading.Thread(target=go.wait).start()
                started += 1
        except RuntimeError as error:
            print(started, error)
        go.set()
        for thread in threading.enumerate():
            if thread is not threading.main_thread(): thread.join()
        for _ in range(1000):  # one after the other there may be any number
            thread = threading.Thread(target=int); thread.start(); thread.join()
        print(threading.active_count())
        """)
    assert ran.stdout.startswith("255 can't start new thread: at most 256 can be alive")
    assert ran.stdout.endswith("\n1\n")


def test_programs_with_threads_do_the_same_each_time() -> None:
    source = """
        import random, threading, time
        random.seed(1)
        out = []
        def work(name):
            for _ in range(5):
                out.append(name)
                with lock: time.sleep(0)
        lock = threading.Lock()
        threads = [threading.Thread(target=work, args=(n,)) for n in "abcde"]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print("".join(out))
        """
    assert len({assert_runs(source).stdout for _ in range(3)}) == 1


FORK = """
import os, sys
sys.path[:0] = sys.argv[1:]
from belljar_policy.library import scheduler, threading
out = []
def work(name):
    for step in range(3):
        out.append(f"{name}{step}")
        scheduler.sleep(0.002)
threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
for thread in threads: thread.start()
held = threading.local(); held.value = "kept"
child = os.fork()
for thread in threads: thread.join()
threads.append(threading.Thread(target=work, args=("c",)))
threads[-1].start(); threads[-1].join()
print("".join(out), held.value, flush=True)
if child:
    assert os.waitpid(child, 0)[1] == 0
os._exit(0)
"""


def test_threads_go_on_in_a_clone_of_the_process(guards: str) -> None:
    import os
    from pathlib import Path

    import RestrictedPython

    root = Path(__file__).resolve().parents[2]
    packages = Path(RestrictedPython.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-I", "-c", FORK, str(root / "policy"), os.environ["BELLJAR_GUARDS_DIR"],
         str(packages)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "a0b0a1b1a2b2c0c1c2 kept\n" * 2
