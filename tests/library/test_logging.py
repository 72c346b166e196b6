"""logging, next to plain CPython."""

from __future__ import annotations

from pathlib import Path

from tests.policy.harness import assert_runs, assert_same, assert_stopped

PROGRAMS = Path(__file__).parent / "programs"
PROGRAM = (PROGRAMS / "logging_calls.py").read_text(encoding="utf-8")
CONFIGURATION = (PROGRAMS / "logging_dict_config.py").read_text(encoding="utf-8")


def test_like_plain_python() -> None:
    shown = assert_same(PROGRAM).stdout
    assert "Traceback (most recent call last):" in shown and "[7] adapted 1" in shown


def test_a_configuration_is_applied_as_by_plain_python() -> None:
    assert "FOR THE ROOT" in assert_same(CONFIGURATION).stdout


def test_to_stderr_as_it_is() -> None:
    assert_same("""
    import contextlib, io, logging
    out = io.StringIO()
    with contextlib.redirect_stderr(out):
        logging.getLogger("quiet").warning("the last resort")
        logging.getLogger("quiet").info("nothing")
        logging.warning("configures")
        logging.error("for %s", "good")
    print(out.getvalue())
    """)


def test_a_handler_that_fails_says_so() -> None:
    ran = assert_runs("""
    import contextlib, io, logging
    out = io.StringIO()
    with contextlib.redirect_stderr(out):
        logging.warning("%d", "x")
    print(out.getvalue())
    """)
    assert ran.stdout.startswith("--- Logging error ---\n")
    assert "TypeError: %d format" in ran.stdout


def test_no_files() -> None:
    assert_stopped("import logging\nlogging.basicConfig(filename='log')", "stream=io.StringIO()")
