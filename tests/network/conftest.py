"""Guests of the network profile, against real servers on loopback that stand for allowed hosts."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.files.conftest import machine as machine
from tests.machine import need_packages
from tests.network import certificates, servers
from tests.network.session import Session

BUILD = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve()
ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("BELLJAR_PYTHON", "/usr/bin/python3")
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


@pytest.fixture(params=["on", "off"])
def policy(request: pytest.FixtureRequest) -> str:
    return request.param


# *.allowed.test and allowed.test may be reached, and both of them are loopback.
DOMAINS = "allowed.test:*,*.allowed.test:*"
RESOLVED = [f"{name}=127.0.0.1" for name in ("allowed.test", "www.allowed.test", "denied.test")]


@pytest.fixture(scope="session")
def sessions() -> Iterator[Callable[..., Session]]:
    """The server for rules of the proxy and a policy; started by the first who asks for it."""
    started: dict[tuple[str, ...], Session] = {}

    def session(domains: str, private: str, policy: str) -> Session:
        key = (domains, private, policy)
        if key not in started:
            started[key] = Session(
                PROGRAM,
                *("--profile", "network", "--policy", policy, "--spares", "2"),
                BELLJAR_NETWORK_ALLOWED_DOMAINS=domains,
                BELLJAR_NETWORK_ALLOW_PRIVATE=private,
                BELLJAR_NETWORK_RESOLVE=",".join(RESOLVED),
            )
        return started[key]

    yield session
    for each in started.values():
        each.close()


@pytest.fixture
def run(sessions: Callable[..., Session]) -> Run:
    """Runs a program that may reach what DOMAINS says."""

    def start(
        source: str,
        domains: str = DOMAINS,
        private: str = "127.0.0.1",
        policy: str = "on",
        **arguments: Any,
    ) -> Outcome:
        session = sessions(domains, private, policy)
        return Outcome(session.run(textwrap.dedent(source), **arguments))

    return start


# Who is not root is given its namespaces by one of users.
_UNSHARE = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
_NSENTER = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]


class Stage:
    """Belljar on a machine with an internet of its own: stage.py."""

    def __init__(self, folder: Path, pid: int) -> None:
        self._folder = folder
        self.enter = ("nsenter", "--target", str(pid), "--mount", "--net", *_NSENTER)
        self.sessions: dict[str, Session] = {}

    def run(self, source: str, policy: str = "off", **arguments: Any) -> Outcome:
        """A program that may reach every name."""
        return Outcome(self.sessions[policy].run(textwrap.dedent(source), **arguments))

    def plain(self, source: str) -> str:
        """What a program prints on the same machine without Belljar."""
        done = subprocess.run(
            [*self.enter, PYTHON, "-I", "-c", textwrap.dedent(source)],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout

    def asked(self) -> list[str]:
        """The names that the name server was asked for."""
        return (self._folder / "asked").read_text().splitlines()

    def intruders(self) -> int:
        """How often somebody came to what is no business of a guest's."""
        log = self._folder / "intruders"
        return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("stage")
    certificates.make(folder)
    (folder / "asked").touch()
    host = subprocess.Popen(
        ["unshare", "--mount", "--net", *_UNSHARE,
         sys.executable, "-m", "tests.network.stage", str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    found = Stage(folder, host.pid)
    try:
        assert host.stdout.readline() == "ready\n"
        for policy in ("on", "off"):
            found.sessions[policy] = Session(
                PROGRAM,
                *("--profile", "network", "--policy", policy, "--spares", "2"),
                *("--allow-domain", "*:*"),
                wrapper=found.enter,
            )
        yield found
    finally:
        for session in found.sessions.values():
            session.close()
        host.stdin.close()
        host.wait(10)


@pytest.fixture(scope="session")
def packages() -> None:
    """For tests of packages that do not come with Belljar: ./dev setup network installs them."""
    need_packages("network")


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
