"""Ways out through threads: code that runs without a frame of the program below it, switches in the
middle of a check, and the objects behind locks and pools. Each works in plain Python."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.policy.harness import check_attack, run, run_plain

ATTACKS = {
    "a class with any method, made by a thread": """
        import threading
        made = []
        def getter(self, name): return "escaped"
        thread = threading.Thread(target=lambda: made.append(type("C", (), {"__getattribute__": getter})))
        thread.start(); thread.join()
        loot = made[0]().anything
        """,
    "a class made by a pool, with no frame of the program below": """
        from concurrent.futures import ThreadPoolExecutor
        def getter(self, name): return "escaped"
        with ThreadPoolExecutor() as pool:
            made = pool.submit(type, "C", (), {"__getattribute__": getter}).result()
        loot = made().anything
        """,
    "a class made by a timer": """
        import threading
        out = []
        class Takes:
            def __init_subclass__(cls): out.append(cls)
        def getter(self, name): return "escaped"
        timer = threading.Timer(0, type, ("C", (Takes,), {"__getattribute__": getter}))
        timer.start(); timer.join()
        loot = out[0]().anything
        """,
    "a class made by sched": """
        import sched
        out = []
        class Takes:
            def __init_subclass__(cls): out.append(cls)
        def getter(self, name): return "escaped"
        s = sched.scheduler(); s.enter(0, 1, type, ("C", (Takes,), {"__getattribute__": getter})); s.run()
        loot = out[0]().anything
        """,
    "globals, by a getattr in a pool": """
        from concurrent.futures import ThreadPoolExecutor
        def f(): pass
        with ThreadPoolExecutor() as pool:
            loot = pool.submit(getattr, f, "__glo" + "bals__").result()
        """,
    "globals, by an attrgetter in a pool": """
        import operator
        from concurrent.futures import ThreadPoolExecutor
        def f(): pass
        with ThreadPoolExecutor() as pool:
            loot = list(pool.map(operator.attrgetter("__glo" + "bals__"), [f]))[0]
        """,
    "globals, by an unbound __getattribute__ in a thread": """
        import threading
        def f(): pass
        out = []
        class Keeps(threading.Thread):
            def run(self): out.append(self._target(*self._args))
        thread = Keeps(target=object.__getattribute__, args=(f, "__glo" + "bals__"))
        thread.start(); thread.join()
        loot = out[0]
        """,
    "globals of the library, by a format string in a pool": """
        import threading
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor() as pool:
            text = pool.submit("{0.__globals__}".format, threading.current_thread).result()
        loot = "escaped" if "__builtins__" in text else None
        """,
    "a frame, from a generator that another thread runs": """
        import threading
        out = []
        def numbers(): yield 1; go.wait(); yield 2
        go = threading.Event()
        generator = numbers()
        thread = threading.Thread(target=lambda: list(generator)); thread.start()
        loot = getattr(generator, "gi_" + "frame")
        go.set()
        """,
    "the frames of an error, from a future": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor() as pool:
            error = pool.submit(lambda: 1 / 0).exception()
        loot = getattr(error, "__trace" + "back__").tb_frame
        """,
    "a switch in the middle of a look-up": """
        import threading
        def f(): pass
        class Slow:
            @property
            def x(self):
                inside.set(); go.wait()
                return f
        inside, go = threading.Event(), threading.Event()
        out = []
        def look(): out.append("{0.x.__globals__}".format(Slow()))
        thread = threading.Thread(target=look); thread.start()
        inside.wait()
        try: "{0.real}".format(1)
        finally: go.set()
        thread.join()
        loot = "escaped" if "__builtins__" in out[0] else None
        """,
    "a switch while a class is made": """
        import threading
        out, inside, go = [], threading.Event(), threading.Event()
        def getter(self, name): return "escaped"
        class Waits:
            def __init_subclass__(cls):
                out.append(cls); inside.set(); go.wait()
        def make():
            class C(Waits): pass
        thread = threading.Thread(target=make); thread.start()
        inside.wait()
        setattr(out[0], "__getattr" + "ibute__", getter)
        go.set(); thread.join()
        loot = out[0]().anything
        """,
    "a switch while a class is made, and another in the other order": """
        import threading
        out, events = [], [threading.Event() for _ in range(4)]
        def getter(self, name): return "escaped"
        class Waits:
            def __init_subclass__(cls, first, second):
                out.append(cls); events[first].set(); events[second].wait()
        def make(first, second):
            try: type("C", (Waits,), {}, first=first, second=second)
            except TypeError: pass
        threads = [threading.Thread(target=make, args=(0, 1)), threading.Thread(target=make, args=(2, 3))]
        for thread in threads: thread.start()
        events[1].set(); threads[0].join()
        setattr(out[1], "__getattr" + "ibute__", getter)
        events[3].set(); threads[1].join()
        loot = out[1]().anything
        """,
    "the namespace of a library function that a future calls back": """
        from concurrent.futures import Future, ThreadPoolExecutor
        with ThreadPoolExecutor() as pool:
            loot = getattr(pool.submit, "__fu" + "nc__").__globals__
        """,
    "the namespace of the scheduler, from a waiting queue": """
        import threading
        condition = threading.Condition()
        loot = getattr(threading.Condition.wait, "__glo" + "bals__")
        """,
}


@pytest.mark.parametrize("source", ATTACKS.values(), ids=ATTACKS.keys())
def test_contained(source: str) -> None:
    check_attack(source)


# What the scheduler relies on: out of reach, whatever a class of the program's defines.
INSIDES = {
    "a condition's waiting threads, replaced": """
        import threading, collections
        seen = []
        class Mine(collections.deque):
            def append(self, place): seen.append(place); super().append(place)
        class Spy(threading.Condition): pass
        spy = Spy()
        spy._waiters = spy._queue = Mine()
        with spy: spy.wait(0.01)
        print("seen" if seen else "nothing")
        """,
    "a condition's waiting threads, by a property": """
        import threading, collections
        seen = []
        class Mine(collections.deque):
            def append(self, place): seen.append(place); super().append(place)
        class Spy(threading.Condition):
            _waiters = _queue = _core = property(lambda self: kept, lambda self, value: seen.append(value))
        kept = Mine()
        spy = Spy()
        with spy: spy.wait(0.01)
        print("seen" if seen else "nothing")
        """,
    "the name of a thread, when the scheduler lists those that wait": """
        import threading
        seen = []
        class Name(str):
            def __str__(self): return self
            def __format__(self, spec): seen.append(1); return "name"
        thread = threading.Thread(target=threading.Event().wait, name=Name("name"), daemon=True)
        f"{thread.name}"  # the control: plain Python keeps what it gets
        thread.start()
        print("seen" if seen else "nothing")
        """,
    "a thread's record, by a property": """
        import threading
        seen = []
        class Spy(threading.Thread):
            _record = _started = _is_stopped = property(lambda self: kept, lambda self, value: seen.append(value))
            def run(self): pass
        kept = threading.Event()
        try: spy = Spy(); spy.start(); spy.join(1)
        except Exception: pass
        print("seen" if seen else "nothing")
        """,
}


@pytest.mark.parametrize("source", INSIDES.values(), ids=INSIDES.keys())
def test_what_the_scheduler_relies_on_is_out_of_reach(source: str) -> None:
    assert run_plain(source).stdout == "seen\n"
    ran = run(source)
    assert ran.error is None and not ran.findings, ran
    assert ran.stdout == "nothing\n"


REFUSED = {
    "the core of an event": ("import threading\nthreading.Event()._core", "BJ302"),
    "the record of a thread": ("import threading\nthreading.current_thread()._record", "BJ302"),
    "a method of the library's class": ("import threading\nthreading.Thread.run = print", "BJ305"),
    "the executor's class": (
        "import concurrent.futures\nconcurrent.futures.Future.result = print",
        "BJ305",
    ),
    "the module": ("import threading\nthreading.excepthook = print", "BJ305"),
}


@pytest.mark.uncontrolled(reason="plain Python has other names, or lets programs set anything")
@pytest.mark.parametrize(("source", "rule"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(source: str, rule: str) -> None:
    ran = run(source)
    assert rule in ran.rules or f"[{rule}]" in ran.message, ran


# Each is called with an object that claims to be what the library expects.
FORGED = {
    "wait": "concurrent.futures.wait([fake])",
    "as_completed": "list(concurrent.futures.as_completed([fake]))",
    "wrap_future": "asyncio.wrap_future(fake)",
    "run_in_executor": "asyncio.new_event_loop().run_in_executor(fake, print)",
}


@pytest.mark.parametrize("call", FORGED.values(), ids=FORGED.keys())
def test_objects_that_claim_to_be_futures_get_nothing_of_the_library(call: str) -> None:
    source = f"""
        import asyncio, concurrent.futures, threading
        seen = []
        class Catches:
            def __call__(self, *args, **options): seen.append(args); return self
            def __getattr__(self, name): seen.append(name); return self
            def __iter__(self): return iter(())
            def __eq__(self, other): return True
            def __hash__(self): return 1
            def __enter__(self): return self
            def __exit__(self, *_): return True
        fake = Catches()
        try: {call}
        except Exception: pass
        print(len(seen) > 0)
        """
    assert run(source).stdout == "False\n"
    assert run_plain(source.replace(call, "concurrent.futures.wait([fake])")).stdout == "True\n"
