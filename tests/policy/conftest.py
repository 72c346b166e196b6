"""Finds the guards extension, or skips what needs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.machine import need_guards
from tests.policy import harness


@pytest.fixture(scope="session", autouse=True)
def guards() -> Iterator[None]:
    # Importing the policy is safe; building one would freeze pytest.
    sys.path.insert(0, need_guards())
    yield
    harness.close_all()
