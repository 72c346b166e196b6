"""The server that the clients of other services talk to."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.conftest import sealed  # noqa: F401
from tests.clients.server import BELLJAR, HttpServer
from tests.machine import need_files

TOKEN = "only-for-tests-of-ann-0123456789abcdef"
OTHER_TOKEN = "only-for-tests-of-bob-0123456789abcdef"
PYTHON = BELLJAR.parents[1] / "venv-compatible/bin/python"
SOURCES = BELLJAR.parents[1] / "sources"

CONFIG = """
[execution]
profiles = ["basic", "filesystem"]
queue = 1000

[fronts]
sandbox_fusion = "filesystem"
piston = "basic"
judge0 = "basic"

[[tokens]]
name = "ann"
file = "ann.token"

[[tokens]]
name = "bob"
file = "bob.token"

[[tokens]]
name = "basic-only"
file = "basic.token"
profiles = ["basic"]
"""
BASIC_TOKEN = "only-for-tests-of-basic-0123456789abcdef"


def start_server(folder: Path, languages: list[str]) -> HttpServer:
    config = CONFIG.replace("queue = ", f"languages = {json.dumps(languages)}\nqueue = ")
    (folder / "config.toml").write_text(config)
    for name, secret in (("ann", TOKEN), ("bob", OTHER_TOKEN), ("basic", BASIC_TOKEN)):
        with open(os.open(folder / f"{name}.token", os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(secret)
    return HttpServer(folder / "log.txt", arguments=["--config", str(folder / "config.toml")])


@pytest.fixture(scope="session")
def server(sealed, tmp_path_factory) -> Iterator[HttpServer]:  # noqa: F811
    server = start_server(tmp_path_factory.mktemp("compatible"), [])
    yield server
    server.stop()


@pytest.fixture(scope="session")
def clients() -> Path:
    """The Python that has the clients."""
    need_files(PYTHON, SOURCES / "verl")
    return PYTHON
