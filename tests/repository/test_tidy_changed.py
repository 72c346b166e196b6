"""tools/tidy_changed.py in a repository of its own: what it reads, and that it finds something."""

import json
import shutil
import subprocess
from pathlib import Path

import change
import pytest
import tidy_changed

from tests.machine import lacks

CLEAN = "int Twice(int value) { return value * 2; }\n"
# bugprone-use-after-move needs a library; this one needs nothing.
FAULTY = "int Same(int value) { return value == value ? 1 : 0; }\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of three commits with a clean file; .clang-tidy is ours."""
    monkeypatch.setattr(tidy_changed, "ROOT", tmp_path)
    monkeypatch.setattr(change, "ROOT", tmp_path)
    shutil.copy(Path(tidy_changed.__file__).parent.parent / ".clang-tidy", tmp_path)
    commit(tmp_path, "README", "1\n")
    commit(tmp_path, "clean.cc", CLEAN)
    commit(tmp_path, "README", "2\n")
    tree = tmp_path / "build"
    tree.mkdir()
    commands = [
        {"directory": str(tmp_path), "file": str(tmp_path / name), "command": f"c++ -c {name}"}
        for name in ("clean.cc", "faulty.cc", "both.cc")
    ]
    (tree / "compile_commands.json").write_text(json.dumps(commands))
    return tmp_path


def commit(root: Path, name: str, text: str) -> None:
    if not (root / ".git").exists():
        run(root, "init", "-q", "-b", "trunk")
    (root / name).write_text(text)
    run(root, "add", name)
    run(root, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", name)


def run(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True)


def test_only_changed_cpp_is_read(repository):
    assert tidy_changed.changed("HEAD~1") == {}
    assert tidy_changed.changed("HEAD~2") == {"clean.cc": 1}


def test_a_header_is_read_by_its_source_and_the_most_changed_first():
    files = {"a.h": 1, "a.cc": 1, "b.h": 9, "alone.h": 50}
    assert tidy_changed.sources_of(files, {"a.cc", "b.cc", "c.cc"}) == ["b.cc", "a.cc"]


def test_a_deleted_file_is_not_read(repository):
    run(repository, "rm", "-q", "clean.cc")
    assert tidy_changed.changed("HEAD") == {}


def test_a_diff_may_have_any_bytes(repository):
    (repository / "message").write_bytes(b"\xff\xfe\n")
    commit(repository, "both.cc", CLEAN)
    run(repository, "add", "message")
    run(repository, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "bytes")
    lines = tidy_changed.line_filter("HEAD~2")
    assert json.loads(lines) == [{"name": "both.cc", "lines": [[1, 1]]}]


def test_only_new_lines_count(repository):
    lacks(shutil.which("clang-tidy"), "clang-tidy")  # ./dev tidy installs it, after the tests
    tree = repository / "build"
    commit(repository, "both.cc", FAULTY)
    commit(repository, "both.cc", FAULTY + CLEAN)
    lines = tidy_changed.line_filter("HEAD~1")
    assert json.loads(lines) == [{"name": "both.cc", "lines": [[2, 2]]}]
    assert tidy_changed.read_all(["both.cc"], tree, 1, 2, lines) == 0
    assert tidy_changed.read_all(["both.cc"], tree, 1, 2, tidy_changed.line_filter("HEAD~2")) == 1


def test_it_fails_on_what_clang_tidy_finds_and_on_nothing_else(repository, capsys):
    lacks(shutil.which("clang-tidy"), "clang-tidy")  # ./dev tidy installs it, after the tests
    tree = repository / "build"
    assert tidy_changed.read_all(["clean.cc"], tree, 1, 2) == 0
    commit(repository, "faulty.cc", FAULTY)
    assert tidy_changed.read_all(["clean.cc", "faulty.cc"], tree, 2, 2) == 1
    assert "misc-redundant-expression" in capsys.readouterr().out


def test_what_there_is_no_time_for_is_named(repository, capsys):
    assert tidy_changed.read_all(["clean.cc"], repository / "build", 1, 0) == 0
    assert "no time for 1 of 1: clean.cc" in capsys.readouterr().out
