"""The jail's attacks, in containers: another wall, and the same host to hurt.

Each attack's control is in tests/jail/test_attacks.py. Only the kernel's layers and the container
hold here: the language is "full".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

import pytest

from tests.jail.attacks import ATTACKS, Attack
from tests.jail.conftest import PROFILE, Host, a_process_to_hurt, host, program
from tests.places.place import CONTAINERS, Place, Server, load, missing, unavailable

__all__ = ["host"]  # a fixture of the jail, of this module as well


@pytest.fixture(scope="module", params=CONTAINERS, ids=str)
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    if why := missing(found):
        unavailable(why)
    return found


@pytest.fixture(scope="module")
def server(place: Place) -> Iterator[Server]:
    load(place, str(PROFILE))
    server = Server(place, str(PROFILE), "--language", "full")
    yield server
    server.close()


@pytest.fixture(scope="module")
def bystander() -> Iterator[tuple[Popen, dict[str, int]]]:
    yield from a_process_to_hurt()


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_fails_inside(
    attack: Attack, server: Server, host: Host, bystander: tuple, tmp_path: Path
) -> None:
    process, victim = bystander
    before = host.state()
    outcome = server.run(program(attack.body, host.facts | victim))
    assert "WON" not in outcome["stdout"], outcome
    assert host.state() == before
    assert process.poll() is None
