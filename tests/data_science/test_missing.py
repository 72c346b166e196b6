"""A profile whose packages are not installed starts none the less, and says what to do."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

PROFILE = """
schema = 1
name = "own"
extends = "basic"
summary = "For a test."

[packages.not-installed]
why = "for a test"
modules = ["no_such_package"]

[modules.no_such_package]
why = "for a test"
exports = ["x"]

[modules."no_such_package.part"]
why = "for a test"
exports = "public"
"""


def run(build: Path, folder: Path, *arguments: str) -> dict[str, Any]:
    profile = folder / "own.toml"
    profile.write_text(PROFILE)
    command = [build / "belljar", "run", "--json", "--profile", profile, *arguments]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)


def test_everything_else_works(build: Path, tmp_path: Path) -> None:
    assert run(build, tmp_path, "-c", "import math\nmath.floor(2.5)")["result"] == 2


def test_an_import_says_which_command_installs_it(build: Path, tmp_path: Path) -> None:
    for name in ("no_such_package", "no_such_package.part"):
        outcome = run(build, tmp_path, "-c", f"import {name}")
        assert outcome["status"] == "refused"
        finding = outcome["findings"][0]
        assert finding["rule"] == "BJ201"
        assert "pip install --require-hashes" in finding["hint"]
        assert "not-installed.txt" in finding["hint"]


def test_a_program_can_ask(build: Path, tmp_path: Path) -> None:
    source = "try:\n    import no_such_package\nexcept ImportError:\n    result = 'without'"
    assert run(build, tmp_path, "-c", source)["result"] == "without"


def test_without_the_policy_it_says_so_too(build: Path, tmp_path: Path) -> None:
    outcome = run(build, tmp_path, "--policy", "off", "-c", "import no_such_package")
    assert outcome["error"]["type"] == "ModuleNotFoundError"
    assert "pip install" in outcome["error"]["hint"]
