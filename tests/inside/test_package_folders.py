"""Of a folder that holds other things too, a zygote imports what its profile names alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What the folder holds: a module, a package, one of a folder that several share, and not the
# profile's: a module, and a package of that same folder.
FOLDER = {
    "single.py": "import sys",
    "whole/__init__.py": "from . import part\n"
    "try:\n    import secret\nexcept ImportError:\n    secret = None\n",
    "whole/part.py": "",
    "shared/ours/__init__.py": "",
    "secret.py": "",
    "secret_package/__init__.py": "",
}
ENTRIES = ["shared/ours", "single.py", "whole", "whole-1.0.dist-info"]
START = """
import importlib, json, sys
folders, names = json.loads(sys.argv[1]), sys.argv[2:]
sys.path[:] = [path for path in sys.path if "site-packages" not in path]
from engine.inside.runner.package_folders import add_package_folders
added = add_package_folders(folders)
found = []
for name in names:
    try:
        found.append(importlib.import_module(name).__name__)
    except ImportError:
        pass
import whole
print(json.dumps([found, added, sys.path[-1], whole.secret is None]))
"""
NAMES = ["single", "whole.part", "shared.ours", "secret", "secret_package"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FOLDER.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def start(*folders: dict[str, object]) -> list:
    done = subprocess.run(
        [sys.executable, "-c", START, json.dumps(folders), *NAMES],
        capture_output=True,
        check=True,
        cwd=ROOT,
    )
    return json.loads(done.stdout)


def test_only_entries_are_imported(folder):
    found, added, last, without_secret = start({"path": str(folder), "entries": ENTRIES})
    assert found == ["single", "whole.part", "shared.ours"]
    assert added == [str(folder)] and last == str(folder)
    assert without_secret is True


def test_a_folder_of_its_own_is_imported_whole(folder):
    found, _, _, without_secret = start({"path": str(folder), "entries": []})
    assert found == NAMES
    assert without_secret is False


def test_sets_may_share_a_folder(folder):
    """Two sets of one environment name the same folder; each has its own entries."""
    found, _, _, _ = start(
        {"path": str(folder), "entries": ["single.py"]}, {"path": str(folder), "entries": ["whole"]}
    )
    assert found == ["single", "whole.part"]
