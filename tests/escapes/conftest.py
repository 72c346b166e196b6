"""The programs here run in the policy's zygotes, as in tests/policy."""

from __future__ import annotations

from tests.policy.conftest import guards as guards
