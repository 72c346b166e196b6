"""The package of the build tree, imported by this very interpreter, as an application does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.clocks import HANG
from tests.machine import ROOT, must_work

BUILD = Path(os.environ.get("BELLJAR_BUILD", Path(__file__).parents[2] / "build/release"))
PACKAGE = BUILD / "python"

if (PACKAGE / "belljar").is_dir():
    sys.path.insert(0, str(PACKAGE))
elif must_work():
    raise RuntimeError(f"there is no package in {PACKAGE}")
else:
    collect_ignore_glob = ["test_*.py"]

if TYPE_CHECKING:
    from belljar import Sandbox

# For a script: the ids of its belljar-parent processes.
PARENTS = """
import os
from pathlib import Path

def parents():
    pids = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        if "Name:\\tbelljar-parent\\n" in text and f"PPid:\\t{os.getpid()}\\n" in text:
            pids.append(int(status.parent.name))
    return pids
"""

Script = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    from belljar import Sandbox

    with Sandbox() as sandbox:
        sandbox.wait_until_ready(60)
        yield sandbox


@pytest.fixture(scope="session")
def files() -> Iterator[Sandbox]:
    from belljar import Sandbox

    with Sandbox("filesystem") as sandbox:
        yield sandbox


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": f"{PACKAGE}:{ROOT}"}


@pytest.fixture
def script() -> Script:
    """Runs a program in a Python of its own, in which nothing has been imported or forked."""

    def run(
        code: str,
        *,
        timeout: float = HANG,
        variables: Mapping[str, str] | None = None,
        **options: object,
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-X", "dev", "-W", "ignore::DeprecationWarning", "-c", code],
            env=environment() | (variables or {}),
            capture_output=True,
            text=True,
            timeout=timeout,
            **options,  # type: ignore[call-overload]
        )

    return run


def named(value: object) -> str:
    """An id of a parameter that is the same in every process."""
    return value if isinstance(value, str) else type(value).__name__


# For attacks: the function with which the runner calls the host, which no program is given.
CALL_HOST = """
import gc
def call_host():
    for value in gc.get_objects():
        if type(value) is dict and "call_host" in value and "max_result" in value:
            return value["call_host"]
    raise LookupError("call_host")
"""
