"""inspect, timeit, traceback, warnings and help(), next to plain CPython."""

from __future__ import annotations

from pathlib import Path

from tests.policy.harness import assert_runs, assert_same, run

PROGRAM = (Path(__file__).parent / "programs/signatures_and_texts.py").read_text(encoding="utf-8")


def test_signatures_kinds_tracebacks_and_times() -> None:
    shown = assert_same(PROGRAM).stdout
    assert "(a, b: int = 3, *args, c, d='x', **kw) -> str" in shown


def test_timeit() -> None:
    assert_same("""
    import timeit
    def ticks():
        ticks.now += 1
        return ticks.now
    ticks.now = 0
    print(timeit.timeit("x + 1", setup="x = 1", timer=ticks, number=3))
    print(timeit.timeit("f(2)", globals={"f": print}, timer=ticks, number=2))
    def work(): print("worked")
    timeit.timeit("work()", setup="from __main__ import work", number=1)
    timeit.timeit(work, setup=work, number=1)
    for wrong in (3, None):
        try: timeit.timeit(wrong)
        except ValueError as error: print(str(error)[-30:])
    try: timeit.timeit("x = (")
    except SyntaxError: print("syntax")
    """)


def test_warnings() -> None:
    assert_same("""
    import contextlib, io, warnings
    def old():
        warnings.warn("old", DeprecationWarning, stacklevel=2)
    class Own(UserWarning): pass
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        old(); warnings.warn("plain"); warnings.warn(Own("own"))
        print([(w.category.__name__, str(w.message), w.lineno, w.filename) for w in caught])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try: old()
        except DeprecationWarning as error: print("raised", error)
        warnings.filterwarnings("ignore", message="qu.et")
        warnings.warn("quiet")
    out = io.StringIO()
    with contextlib.redirect_stderr(out):
        for _ in range(2): warnings.warn("once")
    print(out.getvalue())
    try: warnings.warn("x", int)
    except TypeError as error: print(error)
    """)


def test_help() -> None:
    ran = assert_runs("""
    import math
    def area(radius: float = 1.0) -> float:
        "The area of a circle."
    class Shape:
        "Something flat."
        sides = 0
        def grow(self, by): "Makes it larger."
        def _hidden(self): pass
    help(area); help(Shape); help(Shape().grow); help(len); help(math); help("math"); help(3)
    help("nothing"); help()
    """)
    shown = ran.stdout
    for text in (
        "Help on function area in module __main__:\n\narea(radius: float = 1.0) -> float\n"
        "    The area of a circle.\n",
        "class Shape\n |  Shape()\n |\n |  Something flat.\n",
        " |  grow(self, by)\n |      Makes it larger.\n",
        " |  Data:\n |      sides\n",
        "len(obj, /)\n    Return the number of items in a container.\n",
        "    sqrt(x, /)\n        Return the square root of x.\n",
        "    pi = 3.14159",
        "Help on int object:",
        "No Python documentation found for 'nothing'.",
    ):
        assert text in shown, text
    assert "_hidden" not in shown and shown.count("Help on module math") == 2


def test_what_is_not_there_is_named() -> None:
    for source in (
        "from inspect import currentframe",
        "from traceback import walk_tb",
        "from logging import FileHandler",
        "from unittest import IsolatedAsyncio",
    ):
        (finding,) = run(source).findings
        assert finding["rule"] == "BJ202" and finding["hint"], finding
