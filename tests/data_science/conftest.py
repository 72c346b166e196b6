"""The sandbox with the data-science profile, and plain Python with the same packages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.data_science.plain import PlainPython
from tests.data_science.session import Session
from tests.policy import harness
from tests.policy.conftest import require_guards


def _unavailable(message: str) -> None:
    if os.environ.get("BELLJAR_MUST_WORK") == "1":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def build() -> Path:
    folder = Path(os.environ.get("BELLJAR_BUILD", ""))
    if not os.access(folder / "belljar", os.X_OK):
        _unavailable("BELLJAR_BUILD does not name a build tree")
    return folder


@pytest.fixture(scope="session")
def packages(build: Path) -> Path:
    """The folder of the set of packages."""
    folder = build / "share" / "belljar" / "packages" / "data-science"
    if not folder.is_dir():
        _unavailable("the packages are not installed: ./dev setup data-science")
    return folder.resolve()


@pytest.fixture(scope="session")
def sandbox(build: Path, packages: Path) -> Iterator[Session]:
    session = Session(build / "belljar", "--profile", "data-science")
    yield session
    session.close()


@pytest.fixture(scope="session")
def jail(build: Path, packages: Path) -> Iterator[Session]:
    """The kernel's layers alone."""
    session = Session(build / "belljar", "--profile", "data-science", "--language", "full")
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
    require_guards()
    # Not a name that `belljar` takes for a setting of its own: other tests share this process.
    os.environ["POLICY_SET_PACKAGES"] = str(packages)
    yield
    harness.close_all()
