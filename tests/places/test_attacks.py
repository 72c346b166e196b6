"""The jail's attacks, in containers: another wall, and the same host to hurt.

Each attack's control is in tests/jail/test_attacks.py. Only the kernel's layers and the container
hold here: the language policy is off. A container is started for every run, so attacks that do not
end their worker share one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from subprocess import Popen

import pytest

from tests.jail.attacks import ATTACKS, PRELUDE, Attack
from tests.jail.conftest import NUMBERS, PROFILE, Host, a_process_to_hurt, host, program
from tests.places.place import CONTAINERS, Place, Server, load, need

__all__ = ["host"]  # a fixture of the jail, of this module as well

BATCH = 24

# What an attack gets in a container, and what that is: nothing of the host's. Under gVisor there is
# no Landlock, so a worker sees what the image and the container have.
HARMLESS = {
    "runc": {
        "stat_passwd": "the image's own, of one user",
        "stat_processes": "those of the container",
    },
    "runsc": {
        "list_descriptors": "its own",
        "list_processes": "those of the container",
        "list_root": "the image's",
        "list_sys": "empty",
        "list_usr": "the image's",
        "read_command_line_of_init": "belljar-guest's",
        "read_device": "/dev/zero of gVisor",
        "read_environment_of_init": "that of the image: no secret of the host's",
        "read_own_maps": "its own",
        "read_passwd": "the image's own, of one user",
        "read_shared_memory": "empty",
        "stat_passwd": "the image's own, of one user",
        "stat_processes": "those of the container",
        "walk_proc_self_root": "the image's",
        "walk_up_from_the_library": "the image's",
        "write_in_every_directory": "memory of the container, which is gone with it",
    },
}


# Of those, what they would have got of the host's: none of it is in the image.
HOSTS_OWN = {
    "read_passwd": ("root:", lambda: Path("/etc/passwd").read_text()),
    "list_root": ("'home'", lambda: str(os.listdir("/"))),
    "list_usr": ("'sbin'", lambda: str(os.listdir("/usr"))),
    "walk_proc_self_root": ("'shadow'", lambda: str(os.listdir("/etc"))),
}


def batches() -> Iterator[list[Attack]]:
    lasting = iter([each for each in ATTACKS if each.status == "ok"])
    while batch := list(islice(lasting, BATCH)):
        yield batch


LASTING = [pytest.param(batch, id=f"{batch[0]}-to-{batch[-1]}") for batch in batches()]
ENDING = [each for each in ATTACKS if each.status != "ok"]


def one_program(attacks: list[Attack], facts: dict) -> str:
    """Each attack after the other; none ends the next."""
    bodies = {each.name: each.body for each in attacks}
    names = set(re.findall(r"NR\['(\w+)'\]", "".join(bodies.values())))
    return f"""{PRELUDE}
NR = { ({name: NUMBERS[name] for name in names})!r}
HOST = {facts!r}
for name, body in {bodies!r}.items():
    print("\\nattack", name, flush=True)
    try:
        exec(compile(body, name, "exec"), dict(globals()))
    except OSError as error:
        held(error)
    except BaseException as error:
        print("raised", type(error).__name__, flush=True)
print("\\nend")
"""


def won_by_attack(stdout: str) -> dict[str, list[str]]:
    """What each attack of a program got, by its name."""
    parts = re.split(r"^attack (\w+)$", stdout, flags=re.M)
    return {
        name: re.findall(r"^WON.*", said, re.M)
        for name, said in zip(parts[1::2], parts[2::2], strict=True)
    }


@pytest.fixture(scope="module", params=CONTAINERS, ids=str)
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    need(found)
    return found


@pytest.fixture(scope="module")
def server(place: Place) -> Iterator[Server]:
    load(place, str(PROFILE))
    server = Server(place, str(PROFILE), "--policy", "off")
    yield server
    server.close()


@pytest.fixture(scope="module")
def bystander() -> Iterator[tuple[Popen, dict[str, int]]]:
    with a_process_to_hurt() as process:
        yield process


@pytest.mark.parametrize("attacks", LASTING)
def test_they_fail_inside(
    attacks: list[Attack], place: Place, server: Server, host: Host, bystander: tuple
) -> None:
    process, victim = bystander
    before = host.state()
    outcome = server.run(one_program(attacks, host.facts | victim), timeout=30)
    won = won_by_attack(outcome["stdout"])
    assert outcome["stdout"].endswith("\nend\n"), outcome
    assert set(won) == {each.name for each in attacks}
    harmless = HARMLESS[place.runtime]
    assert {name: got for name, got in won.items() if got and name not in harmless} == {}
    for name in won.keys() & HOSTS_OWN.keys():
        assert HOSTS_OWN[name][0] not in "\n".join(won[name]), name
    assert host.state() == before
    assert process.poll() is None


# A container each: where the same gVisor runs without Docker, nothing else would come of them.
@pytest.mark.parametrize("place", CONTAINERS[:2], ids=str, indirect=True)
@pytest.mark.parametrize("attack", ENDING, ids=str)
def test_those_that_end_their_worker_fail(
    attack: Attack, place: Place, server: Server, host: Host, bystander: tuple
) -> None:
    process, victim = bystander
    before = host.state()
    outcome = server.run(program(attack.body, host.facts | victim))
    assert "WON" not in outcome["stdout"], outcome
    # It was begun: a program that never came so far would win nothing either.
    assert outcome["status"] == "killed" or "held" in outcome["stdout"], outcome
    assert host.state() == before
    assert process.poll() is None


@pytest.mark.parametrize("name", HOSTS_OWN)
def test_the_hosts_own_is_known_when_it_is_seen(name: str) -> None:
    text, read = HOSTS_OWN[name]
    assert text in read()


def test_what_is_won_is_noticed(tmp_path: Path) -> None:
    """The other way round: an attack that gets what it wants is not taken for one that fails."""
    winner = Attack("winner", "won('it')")
    loser = Attack("loser", "raise PermissionError(1, 'no')")
    outside = tmp_path / "both.py"
    outside.write_text(one_program([winner, loser], {}))
    said = subprocess.run([sys.executable, outside], capture_output=True, text=True, check=True)
    assert won_by_attack(said.stdout) == {"winner": ["WON it"], "loser": []}
