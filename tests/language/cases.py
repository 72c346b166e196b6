"""Tests made from tables of programs: one test a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from tests.policy.harness import assert_identical, check_refused, run


def runs(programs: dict[str, str]) -> Callable[..., None]:
    """Each runs to its end, and is in nothing different from plain CPython."""

    @pytest.mark.parametrize("name", programs)
    def test(name: str) -> None:
        ran = assert_identical(programs[name])
        assert ran.error is None, ran.traceback

    return test


def raises(programs: Iterable[tuple[str, str]]) -> Callable[..., None]:
    """Each ends with an exception of that type, which is CPython's in type, text and place."""

    @pytest.mark.parametrize(("error", "source"), programs)
    def test(error: str, source: str) -> None:
        assert assert_identical(source).error == error

    return test


def refused(programs: Iterable[tuple[str, int, int, str]]) -> Callable[..., None]:
    """Each has one finding, of that rule at that line and column."""

    @pytest.mark.parametrize(("rule", "line", "column", "source"), programs)
    def test(rule: str, line: int, column: int, source: str) -> None:
        found = run(source).findings
        assert [(f["rule"], f["line"], f["column"]) for f in found] == [(rule, line, column)]
        assert found[0]["reason"] and found[0]["hint"]

    return test


def stopped(programs: Iterable[tuple[str, str]]) -> Callable[..., None]:
    """Each runs to its end in plain Python, compiles, and is stopped by that rule while it runs."""

    @pytest.mark.parametrize(("rule", "source"), programs)
    def test(rule: str, source: str) -> None:
        ran = check_refused(source, f"[{rule}] ")
        assert not ran.findings and ran.message.startswith(f"[{rule}] "), ran

    return test
