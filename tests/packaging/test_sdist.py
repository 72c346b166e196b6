"""The source distribution: a wheel can be built of it, and it has nothing else."""

from __future__ import annotations

import os
import subprocess
import tarfile
import tomllib
from pathlib import Path

import pytest

from .conftest import ROOT

# The first of them waits for the wheel.
pytestmark = pytest.mark.timeout(1800)


def test_the_sdist_is_what_a_build_takes(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "CMakeLists.txt",
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "requirements/runtime.txt",
    } <= names
    tops = {name.partition("/")[0] for name in names if name}
    assert not tops & {"build", "tests", "docs", "bench", "examples", "deploy"}
    assert not [name for name in names if name.endswith((".pyc", ".so", ".o"))]


@pytest.fixture(scope="module")
def unpacked(sdist: Path, scratch: Path) -> Path:
    with tarfile.open(sdist) as archive:
        archive.extractall(scratch / "unpacked")
    (folder,) = (scratch / "unpacked").iterdir()
    return folder


def test_it_has_what_the_compiler_read(dist: Path, build_tree: Path, unpacked: Path):
    """Each source and header of the tree that went into the wheel, by the compiler's own list."""
    listed = subprocess.run(
        ["ninja", "-C", build_tree, "-t", "deps"], capture_output=True, check=True, text=True
    ).stdout
    read = {
        Path(os.path.normpath(build_tree / line.strip()))
        for line in listed.splitlines()
        if line.startswith("    ")
    }
    ours = {path.relative_to(ROOT) for path in read if path.is_relative_to(ROOT)}
    assert len(ours) > 200
    for path in sorted(ours):
        assert (unpacked / path).read_bytes() == (ROOT / path).read_bytes(), path


def test_it_can_be_built(frontend: Path, unpacked: Path, scratch: Path):
    """It is configured, every input of every rule is there, and all but compiling is done."""
    project = tomllib.loads((unpacked / "pyproject.toml").read_text(encoding="utf-8"))
    cmake_folder = subprocess.run(
        [frontend, "-I", "-m", "pybind11", "--cmakedir"], capture_output=True, check=True, text=True
    ).stdout.strip()
    tree = scratch / "of the sdist"
    options = {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "BELLJAR_BUILD_TESTS": "OFF",
        "Python3_EXECUTABLE": frontend,
        "pybind11_DIR": cmake_folder,
        "SKBUILD": 2,
        "SKBUILD_SCRIPTS_DIR": scratch / "scripts",
    }
    defined = [f"-D{name}={value}" for name, value in options.items()]
    for command in (
        ["cmake", "-G", "Ninja", "-S", unpacked, "-B", tree, *defined],
        ["ninja", "-C", tree, "-n", *project["tool"]["scikit-build"]["build"]["targets"]],
        # Not belljar_share, whose records of memory are made by a program that is compiled.
        ["ninja", "-C", tree, "belljar_share_files"],
    ):
        done = subprocess.run(command, capture_output=True, check=False, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
