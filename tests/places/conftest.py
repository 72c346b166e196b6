"""A server in each place, started once for all tests of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.places.place import PLACES, Place, Server, load, need

# Image and server of a profile take a second to make: once for all tests.
ServerOf = Callable[[str], Server]


@pytest.fixture(scope="session", params=PLACES, ids=str)
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    need(found)
    return found


@pytest.fixture(scope="session")
def server_of(place: Place) -> Iterator[ServerOf]:
    servers: dict[str, Server] = {}

    def serve(profile: str) -> Server:
        if profile not in servers:
            if place.is_container:
                load(place, profile)
            servers[profile] = Server(place, profile)
        return servers[profile]

    yield serve
    for server in servers.values():
        server.close()


@pytest.fixture
def basic(server_of: ServerOf) -> Server:
    return server_of("basic")


@pytest.fixture
def files(server_of: ServerOf) -> Server:
    return server_of("filesystem")


@pytest.fixture
def tables(server_of: ServerOf) -> Server:
    return server_of("data-science")
