"""examples/package: programs that use the Python package, run as their own texts say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve()

PRINTED = {
    "grade.py": [
        "'1 2 3': correct",
        "'10': correct",
        "'-1 1': correct",
        "'': ZeroDivisionError in line 3",
    ],
    "side_by_side.py": [
        "traffic in Rom: nobody waits any more",
        "the program printed: no news of the traffic",
        "its value: Rom, 31 degrees",
    ],
}


@pytest.mark.parametrize("name", PRINTED)
def test_it_prints_what_it_should(name: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples/package" / name],
        env={**os.environ, "PYTHONPATH": str(BUILD / "python")},
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == PRINTED[name]


def test_each_is_run_here() -> None:
    names = {each.name for each in (ROOT / "examples/package").glob("*.py")}
    assert names == PRINTED.keys()
    for name in names:
        text = (ROOT / "examples/package" / name).read_text(encoding="utf-8")
        assert f"PYTHONPATH=build/release/python python3 examples/package/{name}" in text
