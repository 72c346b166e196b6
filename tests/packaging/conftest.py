"""Belljar as pip installs it: a source distribution of this tree, a wheel, and empty environments
with the wheel in them, of the interpreter under test and of a second build of it.

The wheel is made of this tree, whose objects the compiler cache has; otherwise it takes minutes
to compile. It is the one for this machine: those for others, which `./dev wheels` makes and tries,
take longer. That the source distribution is all that it takes is a test (test_sdist.py)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.machine import BUILD, lacks, need

ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("BELLJAR_PYTHON", "/usr/bin/python3")
VERSION = re.search(r"project\(belljar VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# What the wheel has for the time of its commit.
EPOCH = 1_750_000_000
# The user that nothing belongs to.
NOBODY = 65534


def ask(python: str | Path, expression: str) -> str:
    code = f"import sys; print({expression})"
    return subprocess.run(
        [python, "-I", "-c", code], capture_output=True, check=True, text=True
    ).stdout.strip()


MINOR = ask(PYTHON, "'%d.%d' % sys.version_info[:2]")


def second_python() -> str | None:
    """One of the same minor version that is another build, as pyenv's with a shared libpython is
    beside Debian's with one that is linked in."""
    version = ask(PYTHON, "sys.version")
    folders = [Path("/usr/local/bin"), Path("/usr/bin"), *Path("/opt").glob("*/bin")]
    folders += sorted(Path.home().glob(f".pyenv/versions/{MINOR}.*/bin"), reverse=True)
    for folder in folders:
        other = folder / f"python{MINOR}"
        if other.is_file() and ask(other, "sys.version") != version:
            return str(other)
    return None


@dataclass(frozen=True)
class Environment:
    folder: Path
    python: str  # that it was made with
    before: frozenset[Path]  # its files, without Belljar

    @property
    def belljar(self) -> Path:
        return self.folder / "bin/belljar"

    @property
    def packages(self) -> Path:
        return self.folder / f"lib/python{MINOR}/site-packages"

    @property
    def installation(self) -> Path:
        return self.packages / "belljar/_installation"

    def run(
        self, *arguments: object, nobody: bool = False, path: str = "/usr/bin:/bin"
    ) -> subprocess.CompletedProcess[str]:
        """The command; as an ordinary user where it is asked for and we are root."""
        drop = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        return subprocess.run(
            [self.belljar, *map(str, arguments)],
            capture_output=True,
            check=False,
            text=True,
            stdin=subprocess.DEVNULL,
            cwd="/",
            timeout=60,
            env={"PATH": path, "HOME": "/nonexistent"},
            **(drop if nobody and os.geteuid() == 0 else {}),
        )


@pytest.fixture(scope="session")
def scratch(testrun_uid: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Open to other users: pytest's own folders are not. All processes of a run have the same one,
    which the last removes."""
    folder = Path(tempfile.gettempdir()).resolve() / f"belljar packaging {testrun_uid}"
    own = tmp_path_factory.getbasetemp()
    place = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (place / "packaging.lock").open("w") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        yield folder
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)


def once(folder: Path, make: Callable[[], None]) -> None:
    """Makes what is in a folder of `scratch`, unless another process of this run has."""
    done = folder.with_name(f"{folder.name}.done")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make()
            done.touch()


def pip(python: Path, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-I", "-m", "pip", "--disable-pip-version-check", *map(str, arguments)],
        capture_output=True,
        check=False,
        text=True,
        env=os.environ | variables,
    )


@pytest.fixture(scope="session")
def frontend(scratch: Path) -> Path:
    """The Python with `build` and what the build requires, which each build would install anew."""
    python = scratch / "frontend/bin/python"

    def make() -> None:
        subprocess.run([PYTHON, "-I", "-m", "venv", scratch / "frontend"], check=True)
        wanted = PROJECT["build-system"]["requires"]
        for arguments in (["--require-hashes", "-r", ROOT / "requirements/packaging.txt"], wanted):
            got = pip(python, "install", *arguments)
            need(got.returncode == 0, f"pip cannot install {arguments}: {got.stderr[-500:]}")

    once(scratch / "frontend", make)
    return python


@pytest.fixture(scope="session")
def build_tree(scratch: Path) -> Path:
    """Where the wheel is compiled."""
    return scratch / "tree"


def build(frontend: Path, scratch: Path, target: Path, kind: str, *options: str) -> None:
    environment = {"CC": "/usr/bin/cc", "CXX": "/usr/bin/c++", "TMPDIR": str(scratch)}
    environment |= {"SOURCE_DATE_EPOCH": str(EPOCH)}
    built = subprocess.run(
        [frontend, "-I", "-m", "build", "--no-isolation", kind, *options, "-o", target, ROOT],
        env=os.environ | environment,
        capture_output=True,
        check=False,
        text=True,
    )
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]


@pytest.fixture(scope="session")
def build_wheel(frontend: Path, scratch: Path, build_tree: Path) -> Callable[[Path], Path]:
    """Makes the wheel in a folder. A second time it only packs what has been compiled. With the
    pybind11 of the tree release, so that the compiler cache has these objects, too; `./dev wheels`
    takes that of pyproject.toml."""

    def build_wheel(target: Path) -> Path:
        settings = [f"-Cbuild-dir={build_tree}", "-Ccmake.define.BELLJAR_WERROR=ON"]
        cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        if found := re.search(r"^pybind11_DIR:PATH=(.+)$", cache, re.MULTILINE):
            settings.append(f"-Ccmake.define.pybind11_DIR={found[1]}")
        build(frontend, scratch, target, "--wheel", *settings)
        (found,) = target.glob("*.whl")
        return found

    return build_wheel


@pytest.fixture(scope="session")
def dist(frontend: Path, scratch: Path, build_wheel: Callable[[Path], Path]) -> Path:
    """The folder with both, compiled once in a run: three files of tests need it."""
    folder = scratch / "dist"

    def make() -> None:
        build(frontend, scratch, folder, "--sdist")
        build_wheel(folder)

    once(folder, make)
    return folder


@pytest.fixture(scope="session")
def sdist(dist: Path) -> Path:
    return dist / f"belljar_sandbox-{VERSION}.tar.gz"


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


def files_of(folder: Path) -> frozenset[Path]:
    return frozenset(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def make_environment(python: str, folder: Path, wheel: Path) -> Environment:
    subprocess.run([python, "-I", "-m", "venv", folder], check=True)
    # What pip compiles of itself meanwhile is none of ours.
    pip(folder / "bin/python", "list")
    before = files_of(folder)
    done = pip(folder / "bin/python", "install", "--no-index", "--no-deps", wheel)
    assert done.returncode == 0, done.stderr
    return Environment(folder, python, before)


@pytest.fixture(scope="session", params=["first", "second"])
def environment(request: pytest.FixtureRequest, scratch: Path, wheel: Path) -> Environment:
    python = PYTHON if request.param == "first" else second_python()
    lacks(python, f"second build of Python {MINOR}")
    return make_environment(python, scratch / f"{request.param} environment", wheel)


@pytest.fixture
def spare_environment(scratch: Path, wheel: Path) -> Iterator[Environment]:
    """One that a test may break."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    folder.chmod(0o755)
    yield make_environment(PYTHON, folder, wheel)
    shutil.rmtree(folder)
