"""Finds the guards extension, or skips what needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.policy import harness


def require_guards() -> str:
    """The folder of the extension. Without it the test fails where it must work, or is skipped."""
    folder = os.environ.get("BELLJAR_GUARDS_DIR", "")
    if not folder or not list(Path(folder).glob("_belljar_guards*.so")):
        message = "BELLJAR_GUARDS_DIR does not name the folder of _belljar_guards"
        if os.environ.get("BELLJAR_MUST_WORK") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return folder


@pytest.fixture(scope="session", autouse=True)
def guards() -> Iterator[None]:
    # Importing the policy is safe; building one would freeze pytest.
    sys.path.insert(0, require_guards())
    yield
    harness.close_all()
