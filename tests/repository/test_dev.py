"""./dev as its user meets it, without building anything."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def dev(*words: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [ROOT / "dev", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_without_a_word_it_lists_them():
    done = dev()
    assert done.returncode == 0
    words = ("run", "build", "test", "bench", "fuzz", "lint", "fmt", "clean", "doctor", "setup")
    for word in words:
        assert f"\n  {word} " in done.stdout


@pytest.mark.parametrize(("typed", "meant"), [("tset", "test"), ("buidl", "build"), ("fm", "fmt")])
def test_an_unknown_word_is_answered_with_the_nearest(typed, meant):
    done = dev(typed)
    assert done.returncode == 2
    assert f"did you mean '{meant}'?" in done.stderr
    assert done.stdout == ""


def test_a_word_like_no_other_gets_no_suggestion():
    done = dev("transmogrify")
    assert done.returncode == 2
    assert "did you mean" not in done.stderr


def test_unknown_preset_and_suite():
    assert dev("build", "fast").returncode == 2
    assert dev("test", "everything").returncode == 2
    assert dev("fuzz", "everything").returncode == 2
    assert dev("fuzz", "http", "--seconds", "soon").returncode == 2


def test_packages_that_no_profile_needs_are_named():
    done = dev("setup", "datascience")
    assert done.returncode == 2
    assert "data-science" in done.stderr and "all" in done.stderr


def test_a_build_folder_that_cannot_be_written_is_explained(tmp_path):
    # Also root cannot make a folder below a file.
    (tmp_path / "file").write_text("")
    done = dev("setup", BELLJAR_BUILD_DIR=str(tmp_path / "file/build"))
    assert done.returncode == 2
    assert "BELLJAR_BUILD_DIR" in done.stderr


def test_the_host_program_has_no_python_in_it():
    program = Path(os.environ["BELLJAR_BUILD"]) / "belljar"
    assert program.is_file()
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    assert "libc.so" in needed
    assert "libpython" not in needed
