"""The official MCP clients, as ./dev installs them, and the server that they talk to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.server import BELLJAR, TOKEN, HttpServer
from tests.machine import need_files, need_layers

BUILD = BELLJAR.parents[1]


@pytest.fixture(scope="session")
def sealed() -> None:
    """The server runs code with every layer."""
    need_layers("strict")


@pytest.fixture(scope="session")
def build(sealed) -> Path:
    """The folder of the clients: node and npm packages in clients/, Python ones in venv-*/."""
    need_files(
        BUILD / "clients/node", BUILD / "clients/node_modules", BUILD / "venv-clients/bin/python"
    )
    return BUILD


@pytest.fixture(scope="session")
def gateway_python(build) -> Path:
    python = BUILD / "venv-gateway/bin/python"
    need_files(python)
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
