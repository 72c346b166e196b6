"""Packages that are installed in a session of commands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class InstalledPackage:
    """A package of an index, as it was installed."""

    name: str
    version: str
    file: str
    """The wheel on the index, or the archive on npm's registry."""
    sha256: str
    """Of that file."""

    @property
    def requirement(self) -> str:
        """A line for a lock file: "six==1.16.0 --hash=sha256:…", or "npm:left-pad@1.3.0"."""
        if self.name.startswith("npm:"):
            return f"{self.name}@{self.version}"
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


def locked(path: str | os.PathLike[str]) -> list[str]:
    """The requirements in a file of pip's form, in which each has digests.

    Raises:
        ValueError: It has other options of pip, or a package without a digest.
        OSError: It cannot be read.
    """
    requirements = list(_requirements(Path(path).read_text(encoding="utf-8")))
    for each in requirements:
        if each.startswith("-"):
            raise ValueError(f"lock: {each!r} is an option, and a lock file has packages only")
        if "--hash=" not in each:
            raise ValueError(f"lock: {each!r} has no --hash=sha256:…")
    if not requirements:
        raise ValueError(f"lock: {os.fspath(path)!r} names no packages")
    return requirements


def _requirements(text: str) -> Iterator[str]:
    """Without comments; a line that ends with a backslash goes on in the next."""
    for line in text.replace("\\\n", " ").splitlines():
        plain = " ".join(part for part in line.partition("#")[0].split(" ") if part)
        if plain.strip():
            yield plain.strip()
