"""cProfile, profile and pstats: their tables, but for the times, are those of plain Python."""

from __future__ import annotations

import textwrap

import pytest

from tests.policy.harness import assert_runs, assert_same, assert_stopped

# What the programs print is compared without times and without the folders of the library.
SHOW = """
import io, pstats, re
def show(text):
    print(re.sub(r"\\d+\\.\\d+", "T", text))
def table(profiler, *sort, method="print_stats", **options):
    stream = io.StringIO()
    getattr(pstats.Stats(profiler, stream=stream).strip_dirs().sort_stats(*sort), method)(**options)
    show(stream.getvalue())
"""
WORK = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
class Point:
    def __init__(self, x):
        self.x, self._y = x, 2
        self.x += 1
    def __eq__(self, other):
        return self.x == other.x
def work():
    values = [str(i) for i in range(10)]
    values.append("x")
    sorted(values, key=lambda value: -len(value))
    Point(1) == Point(2)
    try:
        values.index("missing")
    except ValueError:
        pass
    return sum(fib(6) for _ in range(3)) + len("".join(values))
"""
PROGRAMS = {
    "enable and disable": """
        import cProfile
        p = cProfile.Profile()
        p.enable()
        work()
        p.disable()
        table(p, "ncalls", "name")
        table(p, "name", method="print_callers")
        table(p, "name", method="print_callees")
        """,
    "a function": """
        import cProfile, pstats
        p = cProfile.Profile()
        print(p.runcall(fib, 10))
        table(p, pstats.SortKey.CALLS, pstats.SortKey.NAME)
        stats = pstats.Stats(p)
        found = stats.get_stats_profile().func_profiles["fib"]
        print(stats.total_calls, stats.prim_calls, found.ncalls, found.file_name, found.line_number)
        print(sorted((key[1:], row[:2]) for key, row in stats.stats.items()))
        """,
    "statements": """
        import cProfile, contextlib, io
        for call in (lambda: cProfile.run("work()", sort="name"),
                     lambda: cProfile.runctx("f(3)", {"f": lambda x: abs(x)}, {}, sort="name")):
            stream = io.StringIO()
            with contextlib.redirect_stdout(stream):
                call()
            show(stream.getvalue())
        """,
    "again and again": """
        import cProfile, pstats
        p = cProfile.Profile(builtins=False)
        for _ in range(3):
            p.enable()
            fib(3)
            p.disable()
        table(p, "name")
        p.clear()
        p.enable()
        fib(1)
        p.disable()
        p.create_stats()
        print(sorted(key[2] for key in p.stats))
        """,
    "a part of the table": """
        import cProfile, pstats
        p = cProfile.Profile()
        p.runcall(work)
        stream = io.StringIO()
        stats = pstats.Stats(p, stream=stream).strip_dirs().sort_stats("name").reverse_order()
        stats.print_stats("fib|Point", 0.5)
        stats.print_stats(2)
        stats.add(pstats.Stats(p) if p.stats else stats).print_stats("fib")
        show(stream.getvalue())
        """,
    "generators and exceptions": """
        import cProfile
        def numbers():
            for i in range(3):
                yield i
        def fails():
            raise ValueError
        def all_of_it():
            list(numbers())
            for _ in numbers():
                break
            try:
                fails()
            except ValueError:
                pass
        p = cProfile.Profile()
        p.runcall(all_of_it)
        table(p, "name")
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_tables(name: str) -> None:
    assert "T" in assert_same(SHOW + WORK + textwrap.dedent(PROGRAMS[name])).stdout


def test_what_is_ours_counts_as_built_in() -> None:
    ran = assert_runs(
        SHOW
        + """
import copy, cProfile, json, threading, time
def called():
    return 1
def work():
    time.sleep(0.001)
    copy.deepcopy([[1]])
    eval("called()")
    json.dumps([1])
    thread = threading.Thread(target=print, args=("in a thread",))
    thread.start()
    thread.join()
p = cProfile.Profile()
p.runcall(work)
table(p, "name")
"""
    )
    for name in ("{built-in method time.sleep}", "{built-in method copy.deepcopy}", "(called)",
                 "{built-in method builtins.eval}", "(dumps)", "(work)",
                 "{method 'start' of 'threading.Thread' objects}"):  # fmt: skip
        assert name in ran.stdout, (name, ran.stdout)
    assert "belljar" not in ran.stdout and "setprofile" not in ran.stdout


def test_it_ends_with_the_profile() -> None:
    ran = assert_runs("""
        import cProfile
        with cProfile.Profile() as p:
            len([])
        before = dict(p.stats) if p.stats else None
        p.create_stats()
        number = len(p.stats)
        [len([]) for _ in range(100)]
        p.create_stats()
        print(before, number == len(p.stats))
        """)
    assert ran.stdout == "None True\n"


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("cProfile.run('1', 'file')", "profiles are not kept in files"),
        ("pstats.Stats('file')", "profiles are not kept in files"),
        ("cProfile.Profile().dump_stats('file')", "profiles are not kept in files"),
        ("cProfile.Profile(time.time)", "takes no timer"),
        ("cProfile.run('().__class__.__bases__[0].__subclasses__()')", "[BJ30"),
    ],
)
def test_what_cannot_be_had_says_so(use: str, said: str) -> None:
    assert_stopped(f"import cProfile, pstats, time\n{use}", said)
