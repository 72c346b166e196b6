"""The programs here run in the policy's zygotes, as in tests/policy."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from tests.policy import harness
from tests.policy.conftest import guards as guards


@pytest.fixture(autouse=True)
def control(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that has a program refused and runs none in plain Python.

    A program that plain Python refuses too says nothing of the policy: see check_attack() and
    check_refused().
    """
    before = dataclasses.replace(harness.runs)
    yield
    if request.node.get_closest_marker("uncontrolled") is None:
        assert harness.runs.refused == before.refused or harness.runs.plain > before.plain
