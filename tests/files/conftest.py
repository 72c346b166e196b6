"""The command with the filesystem profile, and its control: the same program in plain Python."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.data_science.session import Session
from tests.machine import need_layers

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("BELLJAR_BUILD", ROOT / "build/release")).resolve() / "belljar"
PYTHON = os.environ.get("BELLJAR_PYTHON", "/usr/bin/python3")


@pytest.fixture(scope="session")
def program() -> Path:
    return PROGRAM


@pytest.fixture
def outcome_of() -> Callable[..., dict[str, Any]]:
    """Runs source in the filesystem profile; gives the object of --json."""

    def run(source: str, *arguments: str | Path) -> dict[str, Any]:
        done = subprocess.run(
            [PROGRAM, "run", "-c", source, "--profile", "filesystem", "--json", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            timeout=60,
        )
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def session(program: Path, machine: None) -> Iterator[Session]:
    """A server with the filesystem profile, for many programs."""
    session = Session(program, "--profile", "filesystem")
    yield session
    session.close()


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Runs source in plain Python in an empty directory; gives what it printed."""
    where = tmp_path / "plain"
    where.mkdir()

    def run(source: str) -> str:
        done = subprocess.run(
            [PYTHON, "-I", "-c", source],
            capture_output=True,
            text=True,
            check=False,
            cwd=where,
            timeout=60,
        )
        return done.stdout + done.stderr

    yield run
    # Some are too deep for the library.
    subprocess.run(["rm", "-rf", where], check=True)


@pytest.fixture(scope="session", autouse=True)
def machine() -> None:
    """Every layer, or a skip where the kernel lacks one, and only there."""
    need_layers("strict")
