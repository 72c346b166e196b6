"""Short pieces of everyday Python print here what they print in plain Python."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import everyday
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


CASES = [
    *(("basic", name, text) for name, text in {**everyday.BASIC, **everyday.TESTED}.items()),
    *(("filesystem", name, text) for name, text in {**everyday.FILES, **everyday.PATHS}.items()),
]


@pytest.mark.parametrize(
    ("profile", "source"), [case[::2] for case in CASES], ids=[case[1] for case in CASES]
)
def test_everyday(profile: str, source: str, tmp_path: Path) -> None:
    program = tmp_path / "main.py"
    program.write_text(source)
    expected = _run(PYTHON, "-I", "-X", "utf8", program)
    assert expected[2] == 0, expected
    got = _run(BELLJAR, "run", "--profile", profile, program)
    assert _without_times(got) == _without_times(expected)


def _without_times(ran: tuple[str, str, int]) -> tuple[str, str, int]:
    """unittest tells on stderr how long the tests took."""
    return ran[0], re.sub(r" in [0-9.]+s", "", ran[1]), ran[2]


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("import subprocess\nsubprocess.run(['ls'])", "BJ201"),
        ("from unittest.mock import patch\nimport subprocess\nsubprocess.run(['ls'])", "BJ502"),
        ("import os\nos.kill(1, 9)", "BJ202"),
        ("import signal\nsignal.pause()", "BJ202"),
    ],
)
def test_without_a_patch_it_is_refused(source: str, rule: str, tmp_path: Path) -> None:
    program = tmp_path / "main.py"
    program.write_text(source)
    assert rule in _run(BELLJAR, "run", program)[1]
