"""How an attack of this suite is judged.

An attack is source text that ends with `loot`, what the attacker gets. In plain Python it must get
something that no guest may hold (`is_loot` in tests/policy/zygote.py); under the policy it may be
refused, may fail or may get something harmless, but never that. An attack whose success is an
effect and not an object says so with `loot = 'escaped'`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.policy import harness
from tests.policy.harness import Ran, assert_escapes_in_plain_python

# What a dataclass's generated method would run, if a field could be called that.
CODE = "__class__ and loot.append('escaped') or 1"


def check_attack(source: str) -> Ran:
    """Succeeds in plain Python, and is contained by the policy."""
    return harness.check_attack(source.replace("CODE", repr(CODE)))


def check_against_naive_guard(control: str, attack: str) -> Ran:
    """For attacks on hooks that only the policy has: `control` overcomes a guard in Python.

    What `attack` does by that works in plain Python, where no hook is in its way.
    """
    assert_escapes_in_plain_python(control)
    return harness.check_attack(attack)


def record_of(script: Path, *arguments: str, folder: Path) -> dict[str, Any]:
    """What a script prints, as JSON. `folder`: for the files that its calls write."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads(done.stdout)
    return record
