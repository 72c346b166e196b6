"""The command as its users meet it."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clocks import HANG
from tests.machine import need_layers

PROGRAM = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve() / "belljar"


@dataclass(frozen=True)
class Done:
    code: int
    out: bytes
    err: bytes

    @property
    def stdout(self) -> str:
        return self.out.decode()

    @property
    def stderr(self) -> str:
        return self.err.decode()


@pytest.fixture(scope="session")
def program() -> Path:
    return PROGRAM


@pytest.fixture
def belljar() -> Callable[..., Done]:
    """Runs the command; standard input is empty unless `stdin` (bytes) is given."""

    def run(
        *arguments: str | bytes | Path,
        stdin: bytes = b"",
        cwd: str | Path = "/",
        env: dict[str, str] | None = None,
    ) -> Done:
        done = subprocess.run(
            [PROGRAM, *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            timeout=HANG,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session", autouse=True)
def machine() -> None:
    """All of this runs code with every layer: skip where the kernel lacks one, and only there."""
    need_layers("kernel", "namespaces", "landlock", "seccomp", "strict")
