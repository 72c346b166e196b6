"""Ordinary programs with files do in the sandbox what they do in plain Python, files included."""

import base64
import subprocess
from pathlib import Path

import pytest

from tests.files.conftest import PYTHON

HERE = Path(__file__).resolve().parent
INPUTS = sorted((HERE / "inputs").iterdir())
PROGRAMS = sorted((HERE / "programs").glob("*.py"))


def content_of(artifact: dict) -> bytes:
    text = artifact["content"]
    return text.encode() if artifact["encoding"] == "utf-8" else base64.b64decode(text)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path: Path, outcome_of, tmp_path: Path) -> None:
    for source in INPUTS:
        (tmp_path / source.name).write_bytes(source.read_bytes())
    done = subprocess.run(
        [PYTHON, "-I", path], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    files = [word for source in INPUTS for word in ("--file", source)]
    outcome = outcome_of(path.read_text(encoding="utf-8"), *files)
    assert outcome["error"] is None, outcome["error"]["traceback"] or outcome["findings"]
    assert outcome["stdout"] == done.stdout
    made = {
        str(made.relative_to(tmp_path)): made.read_bytes()
        for made in tmp_path.rglob("*")
        if made.is_file() and not made.is_symlink()
    }
    for source in INPUTS:
        if made.get(source.name) == source.read_bytes():
            del made[source.name]
    # Compressed files hold the time or the name of what made them.
    packed = (".gz", ".bz2", ".xz")
    artifacts = {
        each["name"]: content_of(each)
        for each in outcome["artifacts"]
        if not each["name"].endswith(packed)
    }
    assert artifacts == {name: text for name, text in made.items() if not name.endswith(packed)}
    assert outcome["security_events"] == []
