"""Small projects of others, which carry their own tests, and how these are run: on this machine,
and in a session of the shell, by the same interpreter.

They are downloaded by pip and npm, the files of Python's by their hashes, and run as the user
`nobody`, as in a session: much can be done by root that a test expects to fail.
"""

from __future__ import annotations

import importlib.metadata
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import belljar

from tests.machine import cannot

PYTHON = os.environ.get("BELLJAR_PYTHON", "/usr/bin/python3")
NOBODY = 65534
# What runs the tests, with all that it imports: copied from the environment of this process, which
# has the same interpreter.
RUNNERS = (
    "pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "hypothesis",
    "sortedcontainers",
)


@dataclass(frozen=True)
class Sdist:
    name: str
    version: str
    hash: str  # SHA-256
    root: str = "."  # of its packages
    tests: str = "tests"

    @property
    def pin(self) -> str:
        return f"{self.name}=={self.version} --hash=sha256:{self.hash}\n"


PYTHON_PROJECTS = (
    Sdist(
        "attrs",
        "26.1.0",
        "d03ceb89cb322a8fd706d4fb91940737b6642aa36998fe130a9bc96c985eff32",
        root="src",
    ),
    Sdist(
        "click",
        "8.5.1",
        "9bbfada76703fd1d784b83eea012e3e8c6a001a876543ef104fa56aaaeb072b4",
        root="src",
    ),
    # With a server and clients of the standard library, on loopback.
    Sdist(
        "h11",
        "0.16.0",
        "4e35b956cf45792e4caa5885e69fba00bdbc6ffafbfa020300e549b208ee5ff1",
        tests="h11/tests",
    ),
    Sdist("idna", "3.20", "a7db850025b95ded1eae8a46181a1a6c56c92c96f0e2b005d9ff8dc0210cab44"),
    Sdist(
        "more-itertools",
        "11.2.1",
        "cbf08fd0af284dc69718b9b76a8e6203df624d70209ea511e4219d350c856f63",
    ),
    # Servers and clients of every kind, on loopback.
    Sdist(
        "tornado",
        "6.6.1",
        "28e6311402af59c8b02e3fa0f5e7d8eb465b25081381803b127d97e6a4395d5a",
        tests="tornado/test",
    ),
)
C_PROJECT = Sdist(
    "zopfli", "0.4.3", "d3a50f91a13cea9bafe025de8fd87a005eb26de02a4f0c193127ddbf23ac8ebe"
)


@dataclass(frozen=True)
class NpmPackage:
    name: str
    version: str
    needs: tuple[str, ...]  # by its tests


NPM_PROJECTS = (
    NpmPackage("minimist", "1.2.8", ("tape@5.9.0",)),
    NpmPackage(
        "qs",
        "6.17.1",
        (
            *("tape@5.9.0", "iconv-lite@0.5.2", "mock-property@1.1.2", "for-each@0.3.5"),
            *("has-property-descriptors@1.0.2", "safer-buffer@2.1.2", "es-value-fixtures@1.7.1"),
            *("has-override-mistake@1.0.1", "has-bigints@1.1.0", "has-proto@1.2.0"),
            *("has-symbols@1.1.0", "object-inspect@1.13.4"),
        ),
    ),
)


def _fetch(folder: Path, *command: str | Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        cannot(f"{command[0]} could not download a project; it needs a package index")


def sdist(project: Sdist, folder: Path) -> Path:
    """Its files, in a folder that may be copied anywhere."""
    (folder / "pins.txt").write_text(project.pin)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet")
    _fetch(
        folder, *pip, "--no-deps", "--no-binary", project.name, "--require-hashes", "-r", "pins.txt"
    )
    (archive,) = folder.glob("*.tar.gz")
    _fetch(folder, "tar", "-xf", archive)
    (root,) = (each for each in folder.iterdir() if each.is_dir())
    # As if it had been installed, for who asks for its version.
    facts = root / project.root / f"{project.name.replace('-', '_')}-{project.version}.dist-info"
    facts.mkdir()
    shutil.copy(root / "PKG-INFO", facts / "METADATA")
    return root


def runners(folder: Path) -> None:
    """Copies what runs tests of Python."""
    for name in RUNNERS:
        for file in importlib.metadata.files(name) or ():
            if ".." not in file.parts and file.suffix != ".pyc":
                to = folder / file
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(file.locate()), to)


def npm_package(package: NpmPackage, folder: Path) -> Path:
    """Its files, with what its tests need in node_modules."""
    _fetch(folder, "npm", "pack", "--silent", f"{package.name}@{package.version}")
    (archive,) = folder.glob("*.tgz")
    _fetch(folder, "tar", "-xf", archive)
    root = folder / "package"
    described = json.loads((root / "package.json").read_text())
    # Of what its authors need, the tests need little.
    described.pop("devDependencies", None)
    (root / "package.json").write_text(json.dumps(described))
    (root / ".npmrc").write_text("ignore-scripts=true\naudit=false\nfund=false\n")
    _fetch(root, "npm", "install", "--silent", "--no-save", *package.needs)
    return root


# --- running ----------------------------------------------------------------------------------

# A line for Bash, in a folder, with variables: its exit code and what it wrote.
Run = Callable[[str, Mapping[str, str]], tuple[int, str]]

PYTEST = "{python} -m pytest -q --no-header -p no:cacheprovider --junitxml=report.xml {tests}"


def here(folder: Path) -> Run:
    """On this machine, as `nobody` if this is root, which then owns the folder."""
    as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    if as_nobody:
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", folder], check=True)

    def run(line: str, variables: Mapping[str, str]) -> tuple[int, str]:
        done = subprocess.run(
            ["/bin/bash", "-c", line],
            cwd=folder,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            **as_nobody,  # type: ignore[call-overload]
        )
        return done.returncode, done.stdout

    return run


def put(session: belljar.Session, folder: Path) -> None:
    """Copies a folder to the workspace."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(folder, arcname=".")
    session.files["packed.tar"] = packed.getvalue()
    session.command("tar --no-same-owner -xf packed.tar && rm packed.tar", check=True)


def inside(session: belljar.Session) -> Run:
    def run(line: str, variables: Mapping[str, str]) -> tuple[int, str]:
        ran = session.command(
            f"({line}) 2>&1", env=dict(variables), timeout="60m", cpu="60m", output="16m"
        )
        return ran.exit_code, ran.stdout

    return run


def python_line(project: Sdist) -> tuple[str, dict[str, str]]:
    """How its tests are run: in a folder with its files in project/ and `runners` in site/."""
    line = PYTEST.format(python=PYTHON, tests=project.tests)
    path = f"$PWD/{project.root}:$PWD/../site"
    return f"cd project && PYTHONPATH={path} {line}", {
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
        "ASYNC_TEST_TIMEOUT": "60",  # tornado's, on a busy machine
    }


def junit(text: bytes) -> dict[str, str]:
    """What became of each test, by its name."""
    ends: dict[str, str] = {}
    for case in xml.etree.ElementTree.fromstring(text).iter("testcase"):
        kinds = {each.tag for each in case} & {"failure", "error", "skipped"}
        ends[f"{case.get('classname')}::{case.get('name')}"] = next(iter(kinds), "passed")
    return ends
