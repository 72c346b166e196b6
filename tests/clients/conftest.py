"""The official MCP clients, as ./dev installs them, and the server that they talk to."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.server import BELLJAR, TOKEN, HttpServer

BUILD = BELLJAR.parents[1]


def cannot(why: str) -> None:
    """Skips where the machine cannot; fails there when it must."""
    if os.environ.get("BELLJAR_MUST_WORK") == "1":
        pytest.fail(why)
    pytest.skip(why)


def require(*paths: Path) -> None:
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        cannot(f"not installed: {', '.join(missing)} (./dev test installs them)")


@pytest.fixture(scope="session")
def sealed() -> None:
    """The server runs code with every layer."""
    done = subprocess.run([BELLJAR, "doctor", "--json"], capture_output=True, check=False)
    assert done.returncode in (0, 1), done
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    if not checks["strict"]["found"]:
        cannot(checks["strict"]["detail"])


@pytest.fixture(scope="session")
def build(sealed) -> Path:
    """The folder of the clients: node and npm packages in clients/, Python ones in venv-*/."""
    require(
        BUILD / "clients/node", BUILD / "clients/node_modules", BUILD / "venv-clients/bin/python"
    )
    return BUILD


@pytest.fixture(scope="session")
def gateway_python(build) -> Path:
    python = BUILD / "venv-gateway/bin/python"
    require(python)
    return python


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[HttpServer]:
    """Over HTTP, with a token."""
    server = HttpServer(tmp_path_factory.mktemp("server") / "log.txt", token=TOKEN)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def open_server(tmp_path_factory) -> Iterator[HttpServer]:
    """Over HTTP, for anyone on loopback."""
    server = HttpServer(tmp_path_factory.mktemp("server") / "log.txt")
    yield server
    server.stop()
