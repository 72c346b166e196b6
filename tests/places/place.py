"""Where a run can be: on this machine, or in a container of each kind; and a server in each."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import Any

from tests.data_science.session import Session
from tests.machine import BELLJAR, docker_socket, need_build, need_engine

ENGINE_SOCKET = docker_socket()


@dataclass(frozen=True)
class Place:
    """One way of running; `engine` is empty where it is this machine's own."""

    name: str
    engine: str = ""
    runtime: str = ""

    @property
    def is_container(self) -> bool:
        return bool(self.engine)

    @property
    def is_gvisor(self) -> bool:
        return self.runtime == "runsc"

    def options(self) -> list[str]:
        """Of `belljar run`."""
        if not self.is_container:
            return []
        return ["--container", "--engine", self.engine, "--runtime", self.runtime, *self._socket()]

    def settings(self) -> dict[str, str]:
        """Of `belljar serve`, as environment."""
        if not self.is_container:
            return {}
        settings = {
            "BELLJAR_CONTAINER_ENABLED": "true",
            "BELLJAR_CONTAINER_ENGINE": self.engine,
            "BELLJAR_CONTAINER_RUNTIME": self.runtime,
            "BELLJAR_CONTAINER_SPARES": "2",
        }
        if self.engine == "docker":
            settings["BELLJAR_CONTAINER_SOCKET"] = str(ENGINE_SOCKET)
        return settings

    def _socket(self) -> list[str]:
        return ["--engine-socket", str(ENGINE_SOCKET)] if self.engine == "docker" else []

    def __str__(self) -> str:
        return self.name


LOCAL = Place("local")
CONTAINERS = (
    Place("docker-runc", "docker", "runc"),
    Place("docker-runsc", "docker", "runsc"),
    Place("runsc-alone", "runsc", "runsc"),
)
DOCKER, _, RUNSC_ALONE = CONTAINERS
PLACES = (LOCAL, *CONTAINERS)


def need(place: Place) -> None:
    """Skips where this machine does not have the place."""
    need_build()
    if place.is_container:
        need_engine(place.engine, place.runtime)


def load(place: Place, name: str, option: str = "--profile") -> None:
    """Builds the image of a profile or language, and gives it to the engine of the place."""
    subprocess.run(
        [BELLJAR, "image", "build", option, name, "--load", place.engine],
        env=os.environ | {"DOCKER_HOST": f"unix://{ENGINE_SOCKET}"},
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=600,
    )


class Server:
    """One `belljar serve`, whose runs are in one place."""

    def __init__(self, place: Place, profile: str, *options: str) -> None:
        self.place = place
        self._session = Session(
            BELLJAR, "--profile", profile, *options, environment=os.environ | place.settings()
        )

    def run(self, code: str, **arguments: Any) -> dict[str, Any]:
        """The outcome, of a run that was where it was meant to be."""
        outcome = self._session.run(code, use_container=self.place.is_container, **arguments)
        container = outcome["container"]
        assert (container is not None) == self.place.is_container
        if container is not None:
            assert container["runtime"] == self.place.runtime
            assert container["not_limited"] == []
        return outcome

    def close(self) -> None:
        self._session.close()
