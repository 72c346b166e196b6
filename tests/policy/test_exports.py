"""From no exported name do public attributes lead to a module, a namespace or a way to files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WALKER = Path(__file__).with_name("walk_exports.py")


def test_nothing_leads_outside() -> None:
    done = subprocess.run(
        [sys.executable, str(WALKER), "profile"], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-1]) > 3000  # it walked


def test_the_walker_finds_what_real_modules_leak() -> None:
    done = subprocess.run(
        [sys.executable, str(WALKER), "real"], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 1
    for leak in ("statistics.sys", "uuid.os", "re.enum", "fractions.sys"):
        assert leak in done.stdout
