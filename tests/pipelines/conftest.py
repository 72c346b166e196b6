"""What pipelines find: the command on PATH, a repository, and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.machine import need_program

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve()
BELLJAR = BUILD / "belljar"

GOOD = "import math\n\nprint(math.pi)\n"
BAD = "import glob\n\nprint(glob.glob('*'))\n"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """No configuration of this machine's user, no pipeline's variables; belljar is on PATH."""
    home = tmp_path / "home"
    home.mkdir()
    return {
        "PATH": f"{BUILD}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.com",
        "PRE_COMMIT_HOME": str(home / "pre-commit"),
        "PRE_COMMIT_COLOR": "never",
        # Nothing is fetched, unless a test has it in a folder.
        "PIP_NO_INDEX": "1",
    }


@pytest.fixture
def run(environment) -> Run:
    """A command in a folder, with that environment; the result is not checked."""

    def run(folder: Path, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=folder,
            env=environment | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
        )

    return run


def stand_in_wheel(folder: Path) -> Path:
    """A wheel of this version whose command is the built one, or what BELLJAR_STAND_IN names."""
    text = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(belljar VERSION ([0-9.]+)", text)[1]
    info = f"belljar_sandbox-{version}.dist-info"
    files = {
        f"belljar_sandbox-{version}.data/scripts/belljar": "#!/bin/sh\n"
        f'exec "${{BELLJAR_STAND_IN:-{BELLJAR}}}" "$@"\n',
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: belljar-sandbox\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    wheel = folder / f"belljar_sandbox-{version}-py3-none-any.whl"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            each = zipfile.ZipInfo(name)
            each.external_attr = 0o100755 << 16  # a file that pip makes executable
            archive.writestr(each, content)
    return wheel


def need_git() -> None:
    need_program("git", "git")


@pytest.fixture
def repository(tmp_path, run) -> Path:
    """An empty git repository."""
    need_git()
    folder = tmp_path / "repository"
    assert run(tmp_path, "git", "init", "-q", "-b", "main", folder).returncode == 0
    return folder


def pre_commit(*words: str | Path) -> list[str | Path]:
    return [sys.executable, "-m", "pre_commit", *words]


def matches_schema(schema: str, file: Path) -> subprocess.CompletedProcess[str]:
    """Checks `file` by a schema that the package check-jsonschema carries; reads no network."""
    return subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", file],
        capture_output=True,
        text=True,
        timeout=100,
    )
