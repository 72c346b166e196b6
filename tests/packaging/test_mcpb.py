"""The bundle for MCP clients: packed by its own tool, and started as a client starts it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.machine import need_files
from tests.packaging.conftest import PYTHON, ROOT, VERSION

SOURCE = ROOT / "deploy/mcpb"
MANIFEST = json.loads((SOURCE / "manifest.json").read_text(encoding="utf-8"))
BUILD = Path(os.environ.get("BELLJAR_BUILD", ROOT / "build/release")).resolve()
CLIENTS = BUILD.parent / "clients"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tool = CLIENTS / "node_modules/.bin/mcpb"
    need_files(tool)
    packed = tmp_path_factory.mktemp("mcpb") / "belljar.mcpb"
    subprocess.run(
        [CLIENTS / "node", tool, "pack", SOURCE, packed], check=True, capture_output=True
    )
    folder = packed.parent / "unpacked"
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder)
    return folder


def test_the_bundle_holds_what_is_needed(bundle):
    assert {path.name for path in bundle.iterdir()} == {
        "manifest.json",
        "pyproject.toml",
        "serve.py",
    }


def test_the_versions_are_the_projects():
    project = (SOURCE / "pyproject.toml").read_text(encoding="utf-8")
    assert MANIFEST["version"] == VERSION
    assert f'\nversion = "{VERSION}"\n' in project
    assert f'dependencies = ["belljar-sandbox=={VERSION}"]' in project
    (ours,) = re.findall(
        r'^requires-python = "(.*)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M
    )
    assert f'\nrequires-python = "{ours}"\n' in project
    assert MANIFEST["compatibility"]["runtimes"]["python"] == ours


def test_a_client_starts_the_server(bundle, tmp_path):
    """As uv does: the script by the interpreter of an environment with the command in it."""
    subprocess.run([PYTHON, "-I", "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    (tmp_path / "env/bin/belljar").symlink_to(BUILD / "belljar")
    config = MANIFEST["server"]["mcp_config"]
    assert config["args"] == [
        "run",
        "--directory",
        "${__dirname}",
        MANIFEST["server"]["entry_point"],
    ]
    settings = {
        name: MANIFEST["user_config"][value.removeprefix("${user_config.").rstrip("}")]["default"]
        for name, value in config["env"].items()
    }
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    done = subprocess.run(
        [tmp_path / "env/bin/python", MANIFEST["server"]["entry_point"]],
        cwd=bundle,
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin"} | settings,
    )
    tools = json.loads(done.stdout)["result"]["tools"]
    assert tools[0]["name"] == "execute_code"
