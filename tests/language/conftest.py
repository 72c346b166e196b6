"""The guards extension for the programs below, as in tests/policy."""

from __future__ import annotations

from tests.policy.conftest import guards

__all__ = ["guards"]
