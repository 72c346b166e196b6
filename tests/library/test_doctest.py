"""doctest, next to plain CPython."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.policy.harness import assert_runs, assert_same

PROGRAM = (Path(__file__).parent / "programs/doctest_examples.py").read_text(encoding="utf-8")


def test_like_plain_python() -> None:
    shown = assert_same(PROGRAM).stdout
    assert "***Test Failed*** " in shown


def test_lines_of_failures() -> None:
    ran = assert_runs('''
    import doctest
    def one():
        """Words.

        >>> 1
        2
        """
    class A:
        """
        >>> 3
        4
        """
    doctest.testmod()
    ''')
    found = re.findall(r'File "main.py", line (\d+), in (.*)', ran.stdout)
    assert found == [("11", "__main__.A"), ("6", "__main__.one")]


def test_verbose_and_flags() -> None:
    assert_same('''
    import contextlib, doctest, io, re
    def f():
        """
        >>> 1 + 1
        2
        >>> list(range(9))  # doctest: +ELLIPSIS
        [0, ..., 8]
        >>> 1 / 0  # doctest: +SKIP
        >>> int("x")  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        ValueError: other words
        >>> 3
        4
        >>> 5
        6
        """
    def g(): "No examples."
    for options in ({"verbose": True}, {"optionflags": doctest.REPORT_ONLY_FIRST_FAILURE},
                    {"optionflags": doctest.FAIL_FAST}, {"report": False}):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            print(doctest.testmod(**options))
        print(re.sub(r'File ".*", line .*, in', "File in", out.getvalue()))
    ''')


def test_examples_do_not_change_the_program() -> None:
    assert_same('''
    import doctest
    value = 1
    def f():
        """
        >>> value = 2
        >>> value
        2
        """
    print(doctest.testmod(), value)
    ''')


@pytest.mark.parametrize("example", ["import glob", "open", "f.__globals__"])
def test_a_refused_example_fails(example: str) -> None:
    ran = assert_runs(f'''
    import doctest
    def f():
        """
        >>> {example}
        """
    print(doctest.testmod())
    ''')
    assert "PermissionError: [BJ" in ran.stdout
    assert "TestResults(failed=1, attempted=1)" in ran.stdout
