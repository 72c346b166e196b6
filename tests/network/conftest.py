"""Guests of the network profile, against real servers on loopback that stand for allowed hosts."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.files.conftest import machine as machine
from tests.network import servers

BUILD = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve()
PROGRAM = BUILD / "belljar"
PACKAGES = BUILD / "share" / "belljar" / "packages" / "network"


@dataclass(frozen=True)
class Outcome:
    """What `belljar run --json` says."""

    json: dict[str, Any]

    @property
    def stdout(self) -> str:
        assert self.json["status"] == "ok", self.json["error"]
        return self.json["stdout"]

    @property
    def error(self) -> str:
        assert self.json["error"] is not None, self.json["stdout"]
        return f"{self.json['error']['type']}: {self.json['error']['message']}"

    @property
    def network(self) -> list[dict[str, Any]]:
        return self.json["network"]


Run = Callable[..., Outcome]


@pytest.fixture(params=["restricted", "full"])
def language(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def run() -> Run:
    """Runs a program that may reach *.allowed.test and allowed.test, both of them loopback."""

    def start(
        source: str,
        *options: str,
        domains: str = "allowed.test:*,*.allowed.test:*",
        private: str = "127.0.0.1",
        language: str = "restricted",
    ) -> Outcome:
        command = [PROGRAM, "run", "--profile", "network", "--language", language, "--json"]
        if domains:
            command += ["--allow-domain", domains]
        if private:
            command += ["--allow-private", private]
        for name in ("allowed.test", "www.allowed.test", "denied.test"):
            command += ["--resolve", f"{name}=127.0.0.1"]
        done = subprocess.run(
            [*command, *options, "-c", textwrap.dedent(source)],
            capture_output=True,
            check=False,
            timeout=100,
            cwd="/",
        )
        assert done.stdout, done.stderr.decode()
        return Outcome(json.loads(done.stdout))

    return start


@pytest.fixture
def packages() -> None:
    """For tests of packages that do not come with Belljar: ./dev setup network installs them."""
    if not PACKAGES.is_dir() and os.environ.get("BELLJAR_MUST_WORK") != "1":
        pytest.skip("./dev setup network installs what this needs")
    assert PACKAGES.is_dir()


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> servers.Authority:
    return servers.Authority.make(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def http() -> Any:
    with servers.http_server() as port:
        yield port


@pytest.fixture(scope="session")
def https(authority: servers.Authority) -> Any:
    with servers.http_server(authority.context()) as port:
        yield port
