"""The sandbox with the data-science profile, and plain Python with the same packages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.data_science.plain import PlainPython
from tests.data_science.session import Session
from tests.machine import need_build, need_guards, need_packages
from tests.policy import harness


@pytest.fixture(scope="session")
def build() -> Path:
    folder = Path(os.environ.get("BELLJAR_BUILD", ""))
    need_build()
    return folder


@pytest.fixture(scope="session")
def packages(build: Path) -> Path:
    """The folder of the set of packages."""
    folder = build / "share" / "belljar" / "packages" / "data-science"
    need_packages("data-science")
    return folder.resolve()


@pytest.fixture(scope="session")
def sandbox(build: Path, packages: Path) -> Iterator[Session]:
    session = Session(build / "belljar", "--profile", "data-science")
    yield session
    session.close()


@pytest.fixture(scope="session")
def joined(build: Path, packages: Path) -> Iterator[Session]:
    """With files, too."""
    session = Session(build / "belljar", "--profile", "data-science+filesystem")
    yield session
    session.close()


@pytest.fixture(scope="session")
def jail(build: Path, packages: Path) -> Iterator[Session]:
    """The kernel's layers alone."""
    session = Session(build / "belljar", "--profile", "data-science", "--policy", "off")
    yield session
    session.close()


@pytest.fixture(scope="session")
def plain(packages: Path) -> Iterator[PlainPython]:
    python = PlainPython(packages.parents[2] / "bin" / "python")
    yield python
    python.close()


@pytest.fixture(scope="session")
def policy(packages: Path) -> Iterator[None]:
    """What tests.policy.harness needs for the kinds with these packages."""
    need_guards()
    # Not a name that `belljar` takes for a setting of its own: other tests share this process.
    os.environ["POLICY_SET_PACKAGES"] = str(packages)
    yield
    harness.close_all()
