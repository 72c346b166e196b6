"""tools/change.py: what CI runs for a change, in a repository of its own and by the real table."""

import re
import subprocess
from pathlib import Path

import change
import pytest

from tests.machine import ROOT

TABLE = change.read_table()
EXTRAS = list(TABLE["extras"])


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of three commits."""
    monkeypatch.setattr(change, "ROOT", tmp_path)
    run(tmp_path, "init", "-q", "-b", "trunk")
    for text in "abc":
        commit(tmp_path, "file", text)
    return tmp_path


def commit(root: Path, name: str, text: str) -> str:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(text)
    run(root, "add", name)
    run(root, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", name)
    return str(change.git("rev-parse", "HEAD"))


def run(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True)


def test_on_a_branch_the_base_is_where_it_left_the_trunk(repository):
    left = change.git("rev-parse", "HEAD")
    run(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    commit(repository, "file", "d")
    assert change.default_base() == left


def test_on_the_trunk_it_is_what_passed(repository):
    run(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert change.default_base() is None
    passed = str(change.git("rev-parse", "HEAD"))
    commit(repository, ".ci/passed", f"{passed}\n")
    run(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert change.default_base() == passed


@pytest.mark.parametrize("passed", ["", "no such commit\n", f"{'0' * 40}\n"])
def test_what_passed_has_to_be_a_commit_before_this_one(repository, passed):
    commit(repository, ".ci/passed", passed)
    assert change.default_base() is None


def test_files_that_are_gone_or_moved_count(repository):
    base = commit(repository, "gone", "x" * 100)
    run(repository, "mv", "gone", "moved")
    commit(repository, "file", "d")
    assert change.files_since(base) == ["file", "gone", "moved"]
    assert change.files_since("no-such-commit") is None


def test_where_it_is_not_known_everything_is_needed():
    assert change.needed(None, TABLE) == ["tests", *EXTRAS]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([], ["tests"]),
        (["README.md", "docs/cli.md"], ["docs"]),
        (["docs/cli.md", ".ci/passed"], ["docs"]),
        (["cli/repl/repl.cc", ".ci/passed"], ["tests", "server", "package"]),
        (["README.md", "examples/fibonacci.py"], ["tests"]),
        (["cli/validate/check.cc"], ["tests", "server", "package", "tsan", "packaging"]),
        (
            ["engine/sessions/session.cc"],
            [
                "tests",
                "engine",
                "containers",
                "server",
                "server_cpp",
                "package",
                "tsan",
            ],
        ),
        (["server/http/http_server.cc"], ["tests", "server", "server_cpp", "tsan", "fuzz"]),
        (
            ["server/tools/containers.cc"],
            ["tests", "containers", "server", "server_cpp", "package", "tsan", "fuzz"],
        ),
        (
            ["policy/belljar_policy/guards.py"],
            ["tests", "engine", "language", "packages", "package", "other", "search", "fuzz"],
        ),
        (
            ["engine/inside/zygote.cc"],
            ["tests", "engine", "containers", "server", "server_cpp", "package"],
        ),
        (
            ["engine/inside/heap.cc"],
            ["tests", "engine", "containers", "server", "server_cpp", "packages", "package"],
        ),
        (
            ["profiles/seccomp.toml"],
            ["tests", "engine", "containers", "package", "programs"],
        ),
        (["pyproject.toml"], ["tests", "packaging"]),
        (["python/belljar/ray.py"], ["tests", "package", "integrations", "ray"]),
        (
            ["engine/profiles/model_text.cc", "docs/integrations.md"],
            [
                "tests",
                "engine",
                "containers",
                "server",
                "server_cpp",
                "package",
                "tsan",
                "fuzz",
                "integrations",
            ],
        ),
        (["tests/landing.toml"], ["tests"]),
        (["docs/cli.md", ".ci/run"], ["tests"]),
        (["server/calls/CMakeLists.txt"], ["tests", "server", "server_cpp", "tsan", "fuzz"]),
        (["docs/cli.md", "CMakeLists.txt"], ["tests", *EXTRAS]),
    ],
)
def test_the_files_say_what_is_needed(files, words):
    assert change.needed(files, TABLE) == words


def test_tests_are_left_out_unless_they_are_needed():
    assert change.left_out("tests", EXTRAS, TABLE) == []
    assert "tests/search" in change.left_out("tests", ["tests", "ray"], TABLE)
    assert "tests/integrations/test_ray.py" not in change.left_out("tests", ["ray"], TABLE)
    assert "tests/integrations/test_ray.py" in change.left_out("tests", ["integrations"], TABLE)
    # Two words have it.
    assert "tests/library" in change.left_out("tests", ["tests", "server"], TABLE)
    for word in ("language", "packages"):
        assert "tests/library" not in change.left_out("tests", ["tests", word], TABLE)
    assert change.left_out("programs", EXTRAS, TABLE) == []
    assert "engine_tests" in change.left_out("programs", ["tests", "server_cpp"], TABLE)
    # No C++ test is built for a change of the command alone.
    assert change.left_out("programs", ["tests", "server", "package"], TABLE) == change.left_out(
        "programs", [], TABLE
    )


def test_every_test_program_belongs_to_a_word():
    text = (ROOT / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    programs = re.findall(r"belljar_add_tests\((\w+_tests) ", text)
    # Files that are tested with and without sanitizers are in a second program of their room.
    (both,) = re.findall(r"^set\(tests_of_both ([^)]*)\)", text, re.M)
    places = [path.parent for name in both.split() for path in (ROOT / "tests").rglob(f"{name}.cc")]
    assert len(places) == len(both.split())
    for rooms, program in re.findall(
        r"tests_in\(files ([^)]*)\)\n *belljar_add_tests\((\w+)_tests ", text
    ):
        if {place.name for place in places} & set(rooms.split()):
            programs.append(f"{program}_release_tests")
    assert sorted(change.left_out("programs", [], TABLE)) == sorted(programs)


def test_every_pattern_is_of_a_file_and_every_word_is_known():
    names = str(change.git("ls-files")).splitlines()
    patterns = [*TABLE["everything"], *TABLE["docs"]]
    run_by = (ROOT / ".ci/run").read_text(encoding="utf-8")
    for word, each in TABLE["extras"].items():
        patterns += each["files"]
        for test in each.get("tests", ()):
            assert (ROOT / test).exists(), test
            # Whoever changes these tests runs them.
            assert any(
                pattern.startswith(test) or change.matches(test, [pattern])
                for pattern in each["files"]
            ), test
        assert each.keys() & {"tests", "programs"} or f"needs {word};" in run_by, word
    for pattern in patterns:
        assert any(change.matches(name, [pattern]) for name in names), pattern
