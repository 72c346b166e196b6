"""Short pieces of everyday Python print in the profile `basic` what they print in plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs.snippets import SNIPPETS

PYTHON = os.environ.get("BELLJAR_PYTHON", "/usr/bin/python3")
BELLJAR = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve() / "belljar"

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the embedded Python's words are those of 3.11"
)


def _run(*command: str | Path) -> tuple[str, str, int]:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL
    )
    return done.stdout, done.stderr, done.returncode


def test_there_are_enough() -> None:
    assert len(SNIPPETS) >= 60


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippet(name: str, tmp_path: Path) -> None:
    program = tmp_path / "main.py"
    program.write_text(SNIPPETS[name])
    expected = _run(PYTHON, "-I", "-X", "utf8", program)
    assert expected[1:] == ("", 0)
    assert _run(BELLJAR, "run", program) == expected
