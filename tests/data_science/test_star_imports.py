"""`from m import *` of every module of the profile's packages: it binds names, or says why not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.data_science.session import Session

PROFILE = Path(__file__).resolve().parents[2] / "profiles/data-science.toml"
MODULES = sorted(tomllib.loads(PROFILE.read_text(encoding="utf-8"))["modules"])


@pytest.mark.parametrize("module", MODULES)
def test_a_star_import(sandbox: Session, module: str) -> None:
    outcome = sandbox.run(f"from {module} import *\nlen([n for n in globals() if n[0] != '_'])")
    if outcome["status"] == "refused":
        assert [found["rule"] for found in outcome["findings"]] == ["BJ203"], outcome
    else:
        assert outcome["status"] == "ok", outcome
        assert int(outcome["result"]) >= 0
