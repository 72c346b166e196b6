"""Programs of other languages in containers: the same run, with a container around it."""
# ruff: noqa: E501 programs of other languages

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clocks import HANG
from tests.languages.conftest import ATTACK, Host, Outside, need_language
from tests.languages.interpreter_attacks import ATTACKS as BY_INTERPRETERS
from tests.languages.interpreter_attacks import UNSAFE, Attack
from tests.languages.table import LANGUAGES
from tests.languages.test_limits import BOMBS, MEMORY, STUBBORN
from tests.machine import BELLJAR
from tests.places.place import CONTAINERS, DOCKER, RUNSC_ALONE, Place, Server, load, need

# Those in which a standalone runsc differs are in tests/places.
RUNTIMES = CONTAINERS[:2]
Runs = Callable[..., dict[str, Any]]

HELLO = {
    "bash": 'cat; echo "hello $1"; cat in.txt; sed s/file/out/ in.txt > out.txt',
    "javascript": """const fs = require('fs');
process.stdout.write(fs.readFileSync(0)); console.log('hello', process.argv[2]);
process.stdout.write(fs.readFileSync('in.txt')); fs.writeFileSync('out.txt', 'out\\n');""",
    "c": r"""#include <stdio.h>
int main(int argc, char **argv) {
  char line[100];
  printf("%s", fgets(line, 100, stdin));
  printf("hello %s\n%s", argv[1], fgets(line, 100, fopen("in.txt", "r")));
  fputs("out\n", fopen("out.txt", "w"));
}""",
}


@pytest.fixture(scope="session")
def loaded() -> Iterator[set[tuple[str, str]]]:
    yield set()


@pytest.fixture
def run_in(loaded: set[tuple[str, str]], tmp_path: Path) -> Runs:
    """Runs a program in a container of a place; the image of its language is made once for all."""

    def run(
        place: Place, name: str, source: str, *arguments: str, stdin: str = "", options: tuple = ()
    ) -> dict[str, Any]:
        need(place)
        need_language(name)
        if (place.engine, name) not in loaded:
            load(place, name, "--language")
            loaded.add((place.engine, name))
        file = tmp_path / LANGUAGES[name].file
        file.write_text(source)
        command = [BELLJAR, "run", "--json", *place.options(), *options, file, "--", *arguments]
        if stdin:
            command[3:3] = ["--stdin", "-"]
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, check=False, timeout=HANG
        )
        assert done.stdout, done.stderr
        outcome: dict[str, Any] = json.loads(done.stdout)
        assert outcome.get("container", {}).get("runtime") == place.runtime, outcome
        return outcome

    return run


@pytest.mark.parametrize(
    ("place", "name"),
    [*((place, name) for place in RUNTIMES for name in HELLO), (RUNSC_ALONE, "bash")],
    ids=str,
)
def test_arguments_input_and_files(place: Place, name: str, run_in: Runs, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("file\n")
    options = ("--file", tmp_path / "in.txt")
    outcome = run_in(place, name, HELLO[name], "one", stdin="in\n", options=options)
    assert (outcome["status"], outcome["language"]) == ("ok", name), outcome
    assert outcome["stdout"] == "in\nhello one\nfile\n"
    assert [(each["name"], each["content"]) for each in outcome["artifacts"]] == [
        ("out.txt", "out\n")
    ]


@pytest.mark.parametrize("place", RUNTIMES, ids=str)
def test_the_layers_are_those_of_the_worker_inside(place: Place, run_in: Runs) -> None:
    isolation = run_in(place, "bash", ":")["isolation"]
    held = {layer["name"]: layer["held"] for layer in isolation["layers"]}
    held.pop("cgroup")
    expected = {"privileges": True, "rlimits": True, "seccomp": True, "namespaces": False}
    assert held == expected | {"landlock": not place.is_gvisor}
    assert (isolation["mode"], isolation["policy"]) == ("standard", "off")


LIMITS = {
    "time": ("javascript", STUBBORN["javascript"], ("--timeout", "1"), {"timeout"}),
    "memory of one": ("c", MEMORY["c"], ("--memory", "200m"), {"memory_limit", "exception"}),
    "memory of all": (
        "bash",
        "for i in 1 2 3 4; do (head -c 60m /dev/zero | tail -c 60m | sleep 60) & done; wait",
        ("--memory", "200m"),
        {"memory_limit"},
    ),
    "fork bomb": (
        "bash",
        BOMBS["bash"].replace("{mark}", ""),
        ("--timeout", "2"),
        {"timeout", "cpu_limit", "exception", "killed"},
    ),
}


@pytest.mark.parametrize("place", RUNTIMES, ids=str)
@pytest.mark.parametrize("what", LIMITS)
def test_a_limit_is_a_kill(what: str, place: Place, run_in: Runs) -> None:
    name, source, options, expected = LIMITS[what]
    outcome = run_in(place, name, source, options=options)
    assert outcome["status"] in expected, outcome
    assert run_in(place, "bash", "echo hello")["stdout"] == "hello\n"


@pytest.mark.parametrize("place", RUNTIMES, ids=str)
def test_what_is_left_behind_is_killed(place: Place, run_in: Runs) -> None:
    """It could change the files while they are read."""
    source = "(trap '' TERM HUP; while :; do date +%N > f; done) & setsid sleep 60 & echo done"
    outcome = run_in(place, "bash", source)
    assert (outcome["status"], outcome["stdout"]) == ("ok", "done\n"), outcome


ATTACKS = {
    "network": ("socket", "2", "1", "0"),
    "namespaces": ("clone", hex(0x10000000 | 0x20000)),
    "memory of the parent": ("memory of the parent",),
    "root file system": ("write", "/var/tmp/belljar-attack"),
}


@pytest.mark.parametrize("place", RUNTIMES, ids=str)
@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks(attack: str, place: Place, run_in: Runs, outside: Outside) -> None:
    outcome = run_in(place, "c", ATTACK, *ATTACKS[attack])
    killed = outcome["status"] == "killed" and outcome["security_events"]
    assert outcome["stdout"] == "held\n" or killed, outcome
    assert outside(*ATTACKS[attack]) == "WON"


# These succeed under gVisor, as docs/languages.md says ("In a container"): it has no noexec mounts, and
# without Landlock everything in the container can be read.
NOT_UNDER_GVISOR = {
    "a builtin of its own", "an addon", "an addon by require", "LD_PRELOAD", "the first process",
    "dyn.load", "R_HOME", "System.load",
}  # fmt: skip
ATTACKERS = (*HELLO, "r", "java")


@pytest.mark.parametrize(
    ("place", "attack"),
    [
        (place, attack)
        for place in RUNTIMES
        for attack in BY_INTERPRETERS
        if attack.language in ATTACKERS
        and not (place.is_gvisor and attack.name in NOT_UNDER_GVISOR)
    ],
    ids=str,
)
def test_attacks_by_way_of_an_interpreter(
    attack: Attack, place: Place, run_in: Runs, host: Host
) -> None:
    """They succeed outside (test_interpreter_attacks.py)."""
    source = host.fill(attack.source, "inside", Path("/workspace"), Path("/usr/lib"))
    # Two virtual machines need more than the default.
    options = ("--file", host.folder / "attack.so", "--memory", "1g")
    outcome = run_in(place, attack.language, source, options=options)
    assert "WON" not in outcome["stdout"], outcome
    killed = outcome["status"] == "killed" and outcome["security_events"]
    assert "held" in outcome["stdout"] or killed, outcome


@pytest.mark.parametrize("place", RUNTIMES, ids=str)
def test_a_write_to_address_zero_ends_the_program_alone(place: Place, run_in: Runs) -> None:
    outcome = run_in(place, "java", UNSAFE)
    assert "WON" not in outcome["stdout"]
    assert (outcome["status"], outcome["error"]["type"]) == ("exception", "SIGABRT"), outcome


def test_a_call_of_a_server(run_in: Runs) -> None:
    run_in(DOCKER, "bash", ":")  # makes the image
    server = Server(DOCKER, "basic", "--languages", "bash")
    try:
        outcome = server.run("echo $((6 * 7))", language="bash")
    finally:
        server.close()
    assert (outcome["stdout"], outcome["language"]) == ("42\n", "bash"), outcome


def test_there_is_no_network_to_be_had(run_in: Runs, tmp_path: Path) -> None:
    need(DOCKER)
    command = [BELLJAR, "run", "--profile", "network", "--language", "bash", "-c", "echo 1"]
    done = subprocess.run([*command, *DOCKER.options()], capture_output=True, text=True)
    assert (done.returncode, "no network in one" in done.stderr) == (5, True), done
