"""docs/sessions.md: its programs print what is beside them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documentation.conftest import BUILD, ROOT, environment, page, section

PAGE = page("docs/sessions.md")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
SHOWN = re.compile(r"print\(.*\)  # (.*)$", re.M)


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(PYTHONPATH=str(BUILD / "python")),
        timeout=60,
    )


def test_there_are_programs():
    assert len(PROGRAMS) >= 3
    assert all(SHOWN.search(program) for program in PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_a_program_prints_what_is_shown(program, tmp_path):
    done = run(program, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    printed = [line for line in done.stdout.splitlines() if " was stopped; " not in line]
    assert printed == SHOWN.findall(program)


def test_only_the_cell_that_does_not_end_is_stopped(tmp_path):
    (program,) = (each for each in PROGRAMS if "EXERCISES" in each)
    done = run(program, tmp_path)
    assert done.stdout.splitlines()[0].startswith("'while total: pass' was stopped")


def test_the_tests_that_the_page_names_are_there():
    named = re.findall(r"`(tests/\S+?)`", section(PAGE, "Guarantees"))
    assert len(named) >= 4
    assert all((ROOT / name).is_file() for name in named)
