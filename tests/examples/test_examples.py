"""Each example prints in the sandbox what it prints in plain Python."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PYTHON = os.environ.get("BELLJAR_PYTHON", "/usr/bin/python3")

TEXT = """It was the best of times, it was the worst of times,
it was the age of wisdom, it was the age of foolishness...
Don't stop: the épée, and a line without an end"""


def belljar(*arguments: str) -> subprocess.CompletedProcess:
    program = Path(os.environ["BELLJAR_BUILD"]) / "belljar"
    # From another folder, so that nothing of the example's own can be found by accident.
    return subprocess.run(
        [program, "run", *arguments], capture_output=True, check=False, cwd="/", timeout=60
    )


def test_there_are_examples():
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_same_output_as_plain_python(example, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text(TEXT, encoding="utf-8")
    with text.open("rb") as stdin:
        plain = subprocess.run(
            [PYTHON, "-I", "-X", "utf8", example],
            stdin=stdin,
            capture_output=True,
            check=True,
            cwd="/",
        )
    assert plain.stdout, "an example prints something"

    sandboxed = belljar(str(example), "--stdin", str(text))
    assert sandboxed.stderr.decode() == plain.stderr.decode() == ""
    assert sandboxed.stdout.decode() == plain.stdout.decode()
    assert sandboxed.returncode == 0
