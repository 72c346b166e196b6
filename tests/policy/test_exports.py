"""From no exported name do public attributes lead to a module, a namespace or a way to files."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import RestrictedPython

ROOT = Path(__file__).resolve().parents[2]
PROFILE = ROOT / "profiles" / "basic.toml"
SAMPLES = ROOT / "profiles" / "surface" / "basic-samples.py"


@functools.cache
def walk(*arguments: str) -> dict[str, Any]:
    packages = str(Path(RestrictedPython.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-I", str(ROOT / "tools" / "walk_surface.py"), "--profile", str(PROFILE),
         "--path", packages, *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def walk_with_guards() -> dict[str, Any]:
    return walk("--samples", str(SAMPLES), "--guards", os.environ["BELLJAR_GUARDS_DIR"])


def test_nothing_leads_outside() -> None:
    found = walk_with_guards()
    assert found["leaks"] == []
    assert found["seen"] > 3000  # it walked


def test_the_walker_finds_what_real_modules_leak() -> None:
    leaks = "\n".join(walk("--real")["leaks"])
    for leak in ("statistics.sys", "uuid.os", "re.enum", "fractions.sys", "string.Formatter"):
        assert (leak in leaks) == (leak != "string.Formatter")  # that one is no attribute's doing


def test_the_stand_in_for_the_guards_shows_what_the_guards_show() -> None:
    """The build checks without them."""
    real, stand_in = walk_with_guards(), walk("--samples", str(SAMPLES))
    assert stand_in["leaks"] == []
    assert real["reachable"] == stand_in["reachable"]
