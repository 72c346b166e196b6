"""Real work in a session of the shell: what passes on this machine passes there."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import belljar
import pytest

from tests.languages.conftest import need_language
from tests.machine import lacks
from tests.python import project_suites as suites
from tests.python.project_suites import Run

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

# What differs, by project, with the reason. An entry that no longer differs fails.
DIFFERENCES: dict[str, dict[str, str]] = {}


@pytest.fixture(scope="module")
def box() -> Iterator[belljar.Sandbox]:
    need_language("shell")
    with belljar.Sandbox(language="shell") as box:
        yield box


@pytest.fixture
def session(box: belljar.Sandbox) -> Iterator[belljar.Session]:
    with box.session(memory="2g") as session:
        yield session


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that `nobody` may enter. pytest closes its own to others whenever it starts."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = Path(name) / "work"
        folder.mkdir()
        yield folder


def download(tmp_path: Path) -> Path:
    folder = tmp_path / "download"
    folder.mkdir()
    return folder


def show(name: str, outside: tuple[int, int], inside: tuple[int, int]) -> None:
    """A row of the table: passed of all."""
    print(f"\n{name:16} outside {outside[0]}/{outside[1]}, inside {inside[0]}/{inside[1]}")


@pytest.mark.parametrize("project", suites.PYTHON_PROJECTS, ids=lambda each: each.name)
def test_python_packages(
    project: suites.Sdist, session: belljar.Session, tmp_path: Path, folder: Path
) -> None:
    shutil.copytree(suites.sdist(project, download(tmp_path)), folder / "project")
    suites.runners(folder / "site")
    suites.put(session, folder)
    line, variables = suites.python_line(project)
    _, said_here = suites.here(folder)(line, variables)
    _, said_inside = suites.inside(session)(line, variables)
    assert (folder / "project/report.xml").exists(), said_here
    assert "project/report.xml" in session.files, said_inside
    outside = suites.junit((folder / "project/report.xml").read_bytes())
    inside = suites.junit(session.files["project/report.xml"])
    passed = [list(ends.values()).count("passed") for ends in (outside, inside)]
    show(project.name, (passed[0], len(outside)), (passed[1], len(inside)))
    assert passed[0] > 50, said_here
    differ = {
        name: f"{outside.get(name)} outside, {inside.get(name)} inside"
        for name in outside.keys() | inside.keys()
        if outside.get(name) != inside.get(name)
    }
    known = DIFFERENCES.get(project.name, {})
    assert differ.keys() == known.keys(), f"{differ}\n{said_inside}"


def tap(said: str) -> tuple[int, int]:
    """Passed, and all."""
    lines = said.splitlines()
    assert "# ok" in lines or any(line.startswith("# fail") for line in lines), said
    counts = {
        line.split()[1]: int(line.split()[2])
        for line in lines
        if line.startswith(("# tests", "# pass"))
    }
    return counts["pass"], counts["tests"]


@pytest.mark.parametrize("package", suites.NPM_PROJECTS, ids=lambda each: each.name)
def test_npm_packages(
    package: suites.NpmPackage, session: belljar.Session, tmp_path: Path, folder: Path
) -> None:
    lacks(shutil.which("/usr/bin/node") and shutil.which("npm"), "/usr/bin/node, or no npm,")
    shutil.copytree(
        suites.npm_package(package, download(tmp_path)), folder / "project", symlinks=True
    )
    suites.put(session, folder)
    line = "cd project && node node_modules/tape/bin/tape 'test/*.js'"
    code_here, said_here = suites.here(folder)(line, {})
    code_inside, said_inside = suites.inside(session)(line, {})
    show(package.name, tap(said_here), tap(said_inside))
    assert tap(said_here)[0] > 50
    assert (code_inside, tap(said_inside)) == (code_here, tap(said_here)), said_inside


def test_make(session: belljar.Session, tmp_path: Path, folder: Path) -> None:
    lacks(shutil.which("make") and shutil.which("g++"), "make and g++")
    root = suites.sdist(suites.C_PROJECT, download(tmp_path))
    shutil.copytree(root / "zopfli", folder / "project")
    suites.put(session, folder)
    line = (
        "cd project && make -j2 CFLAGS=-O1 libzopfli.a > log && ar t libzopfli.a"
        " && nm -g --defined-only libzopfli.a | grep -c ZopfliCompress"
    )
    outputs: list[tuple[int, str]] = [
        run(line, {}) for run in (suites.here(folder), suites.inside(session))
    ]
    assert outputs[0] == outputs[1] and outputs[0][0] == 0, outputs


SERVED = """
set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
mkdir served && cd served && git init -q -b main .
for i in $(seq 200); do echo $i > file$i; done
git add . && git commit -qm first && echo changed > file1 && git commit -qam second
"""
CLONED = """
set -e
git clone -q git://127.0.0.1:PORT/served copy
cd copy && git log --format=%s && cat file1 && ls | wc -l
git checkout -q -b more && echo more > more && git add more
git -c user.name=a -c user.email=a@b commit -qm third && git push -q origin more
git -C ../served log -1 --format=%s more
"""


def clone(run: Run, port: int) -> tuple[int, str]:
    return run(CLONED.replace("PORT", str(port)), {"GIT_CONFIG_NOSYSTEM": "1"})


def test_git_over_loopback(session: belljar.Session) -> None:
    """From a server of git's own, and back."""
    made = session.command(SERVED)
    assert made.ok, made.stderr
    daemon = session.spawn(
        "exec git daemon --listen=127.0.0.1 --port=9418 --export-all --enable=receive-pack"
        " --base-path=/workspace --verbose 2>&1"
    )
    lines = daemon.lines()
    assert any("Ready to rumble" in line for line in lines)
    code, said = clone(suites.inside(session), 9418)
    assert (code, said) == (0, "second\nfirst\nchanged\n200\nthird\n"), said
