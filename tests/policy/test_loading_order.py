"""A policy loads its modules and builds its tables in the same order whatever the hash seed: the
record of what workers write to identifies memory by the allocations before (hot_blocks.h)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# In a process for each seed.
LOAD = """
import json, os, sys
root = sys.argv[1]
sys.path[:0] = [root, f"{root}/policy", os.environ["BELLJAR_GUARDS_DIR"]]
from pathlib import Path
from tools.profile_document import read_profile
profile = read_profile(Path(root) / "profiles/basic.toml")
import belljar_policy
from belljar_policy import constructs, transformer
modules = belljar_policy.Policy(profile).modules
print(json.dumps({
    "modules": list(sys.modules),
    "proxies": list(modules.proxies),
    "late": list(modules._late),
    "syntax": [kind.__name__ for kind in transformer._PLAIN],
    "of a set": list(constructs.NODES),
}))
"""


def load(seed: int) -> dict[str, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(ROOT)],
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def test_no_order_depends_on_the_hash_seed():
    first, second = load(1), load(2)
    # The control: what the order of a set would do.
    assert sorted(first["of a set"]) == sorted(second["of a set"])
    assert first.pop("of a set") != second.pop("of a set")
    for what in first:
        assert len(first[what]) > 10, what
        assert first[what] == second[what], what
