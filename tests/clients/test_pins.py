"""What ./dev installs for these tests is what was reviewed, wherever it is fetched from."""

import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOCK = json.loads((HERE / "package-lock.json").read_text())
WANTED = json.loads((HERE / "package.json").read_text())["dependencies"]


def test_every_npm_package_is_pinned_by_its_content():
    packages = {path: entry for path, entry in LOCK["packages"].items() if path}
    assert len(packages) > len(WANTED)
    for path, entry in packages.items():
        # Bundled ones come inside of a package that has a hash.
        assert entry.get("inBundle") or entry["integrity"].startswith("sha512-"), path
        assert "resolved" not in entry, path


def test_the_clients_versions_are_exact_and_the_lock_has_them():
    for name, version in WANTED.items():
        exact = version.rpartition("@")[2]
        assert re.fullmatch(r"\d+\.\d+\.\d+(-[\w.]+)?", exact), (name, version)
        assert LOCK["packages"][f"node_modules/{name}"]["version"] == exact
