"""Modules of the standard library that are loaded on import, imported while a program runs: the
real modules that they are made from are guarded then (guards/real_modules.cc)."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.data_science.session import Session

BASIC = tomllib.loads(
    (Path(__file__).resolve().parents[2] / "profiles/basic.toml").read_text(encoding="utf-8")
)
PROGRAM = """
import sys, unittest.mock
for name in NAMES:
    try:
        exec(f"import {name}")
        dir(sys.modules[name])
    except Exception as error:
        print(name, type(error).__name__, error)
print("done", len(NAMES))
"""


def test_all_of_them_load(sandbox: Session) -> None:
    late = [name for name, entry in BASIC["modules"].items() if "since" not in entry]
    names = sorted([*late, *BASIC["for_tests"]])
    outcome = sandbox.run(PROGRAM.replace("NAMES", repr(names)))
    assert outcome["stdout"] == f"done {len(names)}\n", outcome
