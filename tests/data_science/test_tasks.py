"""Programs as a language model writes them for a practical task, with tests of their own, pass.

Each file of tasks/ is one: a function, a TestCase with mocks, temporary files and looks at figures,
and unittest.main(). Each failed here when it was first run.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.data_science.session import Session

TASKS = sorted((Path(__file__).parent / "tasks").glob("*.py"))
RAN = re.compile(r"^Ran (\d+) tests? in .*\n\nOK(?: \(.*\))?$", re.MULTILINE)


@pytest.mark.parametrize("task", TASKS, ids=lambda path: path.stem)
def test_passes_its_own_tests(task: Path, joined: Session) -> None:
    source = task.read_text(encoding="utf-8")
    outcome = joined.run(source, timeout=60)
    ran = RAN.search(outcome["stderr"])
    assert ran is not None, outcome["stderr"] or outcome["findings"] or outcome["error"]
    assert int(ran.group(1)) == source.count("    def test_") + source.count("async def test_")


def test_a_task_is_plain_python(packages: Path, tmp_path: Path) -> None:
    """One for all, since plain Python takes seconds to import the packages."""
    python = packages.parents[2] / "bin" / "python"
    task = TASKS[0].parent / "shown_figure.py"
    done = subprocess.run(
        [python, "-I", task],
        cwd=tmp_path,
        env={"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
    )
    assert RAN.search(done.stderr), done.stderr
