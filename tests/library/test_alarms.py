"""SIGALRM, which a program asks for: around code that it did not write, as graders do."""

from __future__ import annotations

import pytest

from tests.policy.harness import assert_runs, assert_same, run

# Each runs until the alarm, whatever the machine's speed, or to its end without one.
SAME = {
    "a loop": """
        import signal
        class Late(Exception): pass
        def handler(number, frame): raise Late(number)
        signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            while True: pass
        except Late as e: print("late", e)
        print(signal.alarm(0))
        """,
    "a sleep": """
        import signal, time
        def handler(number, frame): raise TimeoutError("slept")
        signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            time.sleep(1000)
        except TimeoutError as e: print(e)
        """,
    "library code": """
        import signal, statistics
        def handler(number, frame): raise TimeoutError("counted")
        signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.02)
            while True: statistics.mean(range(100))
        except TimeoutError as e: print(e)
        """,
    "what is left": """
        import signal
        print(signal.alarm(100), signal.alarm(50), signal.alarm(0), signal.alarm(0))
        print(signal.getitimer(signal.ITIMER_REAL))
        print(signal.setitimer(signal.ITIMER_REAL, 0))
        """,
    "a handler that returns, again and again": """
        import signal
        seen = []
        signal.signal(signal.SIGALRM, lambda n, f: seen.append(n))
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        while len(seen) < 3: pass
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(set(seen) == {signal.SIGALRM})
        """,
    "ignored": """
        import signal, time
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        time.sleep(0.02)
        print("here")
        """,
    "a context manager around somebody else's function": """
        import contextlib, signal
        @contextlib.contextmanager
        def limit(seconds):
            def handler(number, frame): raise TimeoutError("timed out")
            before = signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try: yield
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
        def solve():
            n = 0
            while True: n += 1
        try:
            with limit(0.02): solve()
        except TimeoutError as e: print(e)
        with limit(100): print("in time")
        """,
    "of another kind": """
        import signal
        try: signal.setitimer(1000, 1)
        except OSError as e: print(type(e) is signal.ItimerError)
        """,
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_as_in_cpython(name: str) -> None:
    assert_same(SAME[name])


def test_without_a_handler_it_ends_the_program() -> None:
    ran = run("import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.001)\nwhile True: pass")
    assert (ran.error, ran.message) == ("SystemExit", "142")


def test_no_handler_runs_in_the_middle_of_our_own_code() -> None:
    """Calls go through code of the policy and load modules; the alarm comes all the time."""
    ran = assert_runs("""
        import importlib, signal
        raised, armed, done = [], False, set()
        def handler(number, frame):
            global armed
            if armed:
                armed = False
                raised.append(1)
                raise ValueError("alarm")
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        for name in ("email.message", "argparse", "http", "doctest", "unittest", "ipaddress"):
            while name not in done:
                try:
                    armed = True
                    importlib.import_module(name)
                    done.add(name)
                    armed = False
                except ValueError: pass
        while len(raised) < 5:
            try:
                armed = True
                eval("sum(range(10))")
                armed = False
            except ValueError: pass
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(len(done), importlib.import_module("argparse").ArgumentParser().parse_args([]))
        """)
    assert ran.stdout == "6 Namespace()\n"


def test_with_threads_the_main_one_gets_it() -> None:
    ran = assert_runs("""
        import signal, threading, time
        seen = []
        signal.signal(signal.SIGALRM, lambda n, f: seen.append(threading.current_thread().name))
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        def busy():
            until = time.monotonic() + 0.03
            while time.monotonic() < until: pass
        t = threading.Thread(target=busy)
        t.start()
        t.join()
        while not seen: pass
        print(seen)
        """)
    assert ran.stdout == "['MainThread']\n"
