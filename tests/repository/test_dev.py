"""./dev as its user meets it, without building anything."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.machine import need_program

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
    words = "run build test bench soak chart fuzz lint tidy odr fmt docs arm64 wheels doctor"
    for word in [*words.split(), "setup", "clean"]:
        assert f"\n  {word} " in done.stdout


@pytest.mark.parametrize(("typed", "meant"), [("tset", "test"), ("buidl", "build"), ("fm", "fmt")])
def test_an_unknown_word_is_answered_with_the_nearest(typed, meant):
    done = dev(typed)
    assert done.returncode == 2
    assert f"did you mean '{meant}'?" in done.stderr
    assert done.stdout == ""


def test_a_word_explains_itself_instead_of_starting(tmp_path):
    for word in ("arm64", "wheels", "test"):
        done = dev(word, "--help", BELLJAR_BUILD_DIR=str(tmp_path / "build"))
        assert (done.returncode, done.stdout) == (0, dev().stdout)
    assert not (tmp_path / "build").exists()


def test_a_word_like_no_other_gets_no_suggestion():
    done = dev("transmogrify")
    assert done.returncode == 2
    assert "did you mean" not in done.stderr


def test_unknown_preset_and_suite():
    assert dev("build", "fast").returncode == 2
    assert dev("test", "everything").returncode == 2
    assert dev("fuzz", "everything").returncode == 2
    assert dev("fuzz", "http", "--seconds", "soon").returncode == 2


def test_wheels_are_for_known_versions_and_need_their_interpreter(tmp_path):
    done = dev("wheels", "2.7")
    assert done.returncode == 2
    assert "no wheels for '2.7', only for: 3.11 " in done.stderr
    absent = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    version = next(each for each in ("3.12", "3.13") if not Path(f"/usr/bin/python{each}").exists())
    for words, variables in (((version,), {}), ((), {"CI": "true"})):
        done = dev(
            "wheels", *words, **absent, **variables, BELLJAR_BUILD_DIR=str(tmp_path / "build")
        )
        assert done.returncode == 2
        assert f"no wheel for {version}: python{version} is not in /usr/bin" in done.stderr
    assert not (tmp_path / "build").exists()


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


def test_what_is_compiled_and_downloaded_is_kept_for_every_clone(tmp_path):
    """Below the user's cache folder, or where it is told; without a home, in the build's own."""
    caches = {"belljar", "told", "cache"}
    settings = {"BELLJAR_PYTHON": "/nonexistent/python3", "HOME": str(tmp_path / "home")}
    settings |= {"XDG_CACHE_HOME": "", "BELLJAR_CACHE_DIR": ""}

    def kept(name: str, **more: str) -> set[str]:
        done = dev("run", BELLJAR_BUILD_DIR=str(tmp_path / name), **settings | more)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        found = tmp_path.rglob("*")
        return {str(path.relative_to(tmp_path)) for path in found if path.name in caches}

    (tmp_path / "home").mkdir()
    assert kept("one") == {"home/.cache/belljar"}
    assert kept("two", BELLJAR_CACHE_DIR=str(tmp_path / "told")) == {"home/.cache/belljar", "told"}
    # Also root cannot make a folder below a file.
    (tmp_path / "file").write_text("")
    without = kept("three", HOME=str(tmp_path / "file"))
    assert without == {"home/.cache/belljar", "told", "three/cache"}


CMAKE = """#!/bin/sh
echo "$@" >>"$0.log"
for word; do
  [ "$last" = -B ] && mkdir -p "$word" && : >"$word/build.ninja"
  last=$word
done
"""


def test_a_build_builds_no_tests(tmp_path):
    """By a cmake that notes what it is asked for; the check of types, in contrast, reads all."""
    cmake = tmp_path / "bin/cmake"
    cmake.parent.mkdir()
    cmake.write_text(CMAKE)
    cmake.chmod(0o755)
    python = os.environ.get("BELLJAR_PYTHON", "/usr/bin/python3")
    # As if the environment were there: it would be fetched.
    pins = (ROOT / "requirements/runtime.txt").read_bytes() + f"2 {python}".encode()
    build = tmp_path / "build"
    for folder in ("venv/bin", "stamp"):
        (build / folder).mkdir(parents=True)
    (build / "venv/bin/python").symlink_to(python)
    (build / "stamp/venv-runtime").write_text(hashlib.sha256(pins).hexdigest() + "\n")

    def asked(*words: str) -> str:
        done = dev(
            *words,
            BELLJAR_BUILD_DIR=str(build),
            BELLJAR_PYTHON=python,
            PATH=f"{cmake.parent}:{os.environ['PATH']}",
        )
        assert done.returncode == 0, done.stderr
        log = Path(f"{cmake}.log")
        said = log.read_text()
        log.unlink()
        return said

    release = asked("build")
    assert "-DBELLJAR_BUILD_TESTS=OFF" in release
    assert release.endswith("--target belljar_command belljar_python\n")
    types = asked("odr")
    assert "-DBELLJAR_BUILD_TESTS=OFF" in types
    assert types.endswith("--target belljar_odr\n")


def test_the_host_program_has_no_python_in_it():
    program = Path(os.environ["BELLJAR_BUILD"]) / "belljar"
    assert program.is_file()
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    assert "libc.so" in needed
    assert "libpython" not in needed


def test_presets_stay_in_their_build_folder(tmp_path):
    """With BELLJAR_BUILD_DIR the sanitized tests use the zygote beside them, not ./build's."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    texts = [text for preset in presets for text in preset.get("cacheVariables", {}).values()]
    assert not [text for text in texts if "${sourceDir}" in text]
    (tsan,) = [preset for preset in presets if preset["name"] == "tsan"]
    script = tmp_path / "resolve.cmake"
    lines = (ROOT / "CMakeLists.txt").read_text().splitlines(keepends=True)
    begin = next(i for i, line in enumerate(lines) if line.startswith("if(BELLJAR_PROGRAMS)"))
    script.write_text("".join(lines[begin : begin + 3]) + 'message("${BELLJAR_PROGRAMS}")\n')
    need_program("cmake", "cmake")
    tree = tmp_path / "mine/tsan"
    tree.mkdir(parents=True)
    told = subprocess.run(
        [
            "cmake",
            f"-DBELLJAR_PROGRAMS={tsan['cacheVariables']['BELLJAR_PROGRAMS']}",
            "-P",
            script,
        ],
        cwd=tree,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stderr.strip() == f"{tmp_path}/mine/release"
