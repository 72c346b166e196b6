"""Programs as people write them do in the sandbox what they do in plain Python.

Each file of programs/ runs in both and must show the same: stdout, stderr and exit code 0. Each of
failing/ ends in an exception that nobody catches: its text and the program's own lines in the
traceback must be CPython's. What a program reads as its standard input stands in stdin/.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

FOLDER = Path(__file__).parent
PROGRAMS = sorted((FOLDER / "programs").glob("*.py"))
FAILING = sorted((FOLDER / "failing").glob("*.py"))
PYTHON = os.environ.get("BELLJAR_PYTHON", "/usr/bin/python3")
BELLJAR = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve() / "belljar"

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the embedded Python's words are those of 3.11"
)


class Ran(NamedTuple):
    """What a program showed, in one of the two."""

    stdout: str
    stderr: str
    code: int


def _input_of(program: Path) -> Path:
    given = FOLDER / "stdin" / f"{program.stem}.txt"
    return given if given.exists() else Path(os.devnull)


def _run(command: list[str | Path], stdin: Path) -> Ran:
    # From another folder, so that nothing of the program's own can be found by accident.
    with stdin.open("rb") as file:
        done = subprocess.run(
            command, stdin=file, capture_output=True, check=False, cwd="/", timeout=60
        )
    return Ran(done.stdout.decode(), done.stderr.decode(), done.returncode)


def _in_both(program: Path) -> tuple[Ran, Ran]:
    given = _input_of(program)
    plain = _run([PYTHON, "-I", "-X", "utf8", program], given)
    sandboxed = _run([BELLJAR, "run", program, "--stdin", given], Path(os.devnull))
    return plain, sandboxed


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest) -> Iterator[dict[Path, Future[tuple[Ran, Ran]]]]:
    """Every program that a selected test asks for, as many at a time as there are cores."""
    selected = [
        item.callspec.params["program"]
        for item in request.session.items
        if item.path == Path(__file__) and "program" in getattr(item, "fixturenames", ())
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {program: pool.submit(_in_both, program) for program in selected}


def test_there_are_enough() -> None:
    assert len(PROGRAMS) >= 60
    assert len(FAILING) >= 10
    stems = {program.stem for program in PROGRAMS + FAILING}
    assert {path.stem for path in (FOLDER / "stdin").iterdir()} <= stems


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_shows_what_plain_python_shows(program: Path, runs: dict[Path, Future]) -> None:
    plain, sandboxed = runs[program].result()
    assert plain.code == 0, plain.stderr
    assert plain.stdout, "a program prints a transcript"
    assert sandboxed.stderr == plain.stderr
    assert sandboxed.stdout == plain.stdout
    assert sandboxed.code == 0


def _own_lines(traceback: str, program: Path) -> list[str]:
    """Of a traceback what is the program's: its frames with line and function, and the words that
    join the parts of a chain."""
    frame = rf'^[ |]*File "{re.escape(str(program))}", (line \d+(?:, in .*)?)$'
    joint = r"^[ |]*(The above exception was .*|During handling of .*)$"
    return [a or b for a, b in re.findall(f"{frame}|{joint}", traceback, re.MULTILINE)]


@pytest.mark.parametrize("program", FAILING, ids=lambda path: path.stem)
def test_fails_as_in_plain_python(program: Path, runs: dict[Path, Future]) -> None:
    plain, sandboxed = runs[program].result()
    assert plain.code == sandboxed.code == 1
    assert sandboxed.stdout == plain.stdout
    lines = _own_lines(plain.stderr, program)
    assert lines, plain.stderr
    assert _own_lines(sandboxed.stderr, program) == lines, sandboxed.stderr
    # Type and message, and what add_note() said, are the last lines; a hint is ours to add.
    shown = [line for line in sandboxed.stderr.splitlines() if not line.startswith("hint: ")]
    assert shown[-1] == plain.stderr.splitlines()[-1]


@pytest.mark.parametrize("folder", ["programs", "failing"])
def test_validate_finds_nothing(folder: str) -> None:
    ran = _run([BELLJAR, "validate", FOLDER / folder], Path(os.devnull))
    assert (ran.code, ran.stdout) == (0, ""), ran
