"""The index of package_index.py in a process of its own, for tests in Python."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

INDEX = Path(__file__).with_name("package_index.py")


@dataclass
class Index:
    address: str
    log: Path

    @property
    def registry(self) -> str:
        """Of npm's packages."""
        return self.address.removesuffix("/simple") + "/npm"

    def asked(self) -> list[str]:
        """The path of each request so far."""
        return self.log.read_text().splitlines() if self.log.exists() else []


@contextmanager
def served_index(log: Path) -> Iterator[Index]:
    with subprocess.Popen(
        [sys.executable, "-I", INDEX, log],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield Index(f"http://127.0.0.1:{process.stdout.readline().strip()}/simple", log)
        process.kill()
