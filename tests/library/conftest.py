"""The policy's zygotes serve these tests too."""

from __future__ import annotations

from tests.policy.conftest import guards as guards
