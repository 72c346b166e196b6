"""The same attacks under each tier: what it adds opens what it says and nothing beside it.

Each attack's control is in test_attacks.py. One `belljar serve` per tier runs them all: what a
worker may do is sealed anew for every run.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.data_science.session import Session
from tests.jail.attacks import ALL_LAYERS, ATTACKS, EVERY_OTHER_CALL, Attack
from tests.jail.conftest import (
    BELLJAR,
    NUMBERS,
    PROFILE,
    ROOT,
    SECRET,
    Host,
    a_process_to_hurt,
    denials,
    program,
    run_outside,
)
from tests.machine import need_packages

EVERYTHING = "data-science+filesystem+network"
TIERS = ("filesystem", "network", "data-science", EVERYTHING)
MEMORY = "128m"  # as in attack.toml: what is to run into the limit is made for that

SHARE = BELLJAR.parent / "share/belljar"
SYSCALLS = tomllib.loads((SHARE / "profiles/seccomp.toml").read_text())


# --- what a tier answers otherwise ----------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What an attack prints and leaves in security_events where a tier allows how it begins."""

    held: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    won: tuple[str, ...] = ()  # each thing that it got, which is all that the tier gives


# The call is allowed, for the workspace; what the host has is not there to be changed.
_NOT_THERE = dict.fromkeys(
    ("truncate_library", "unlink", "rename", "make_directory", "hard_link", "symbolic_link",
     "change_mode", "change_times"),
    Answer(held=("ENOENT",)),
)  # fmt: skip

OTHERWISE: dict[str, dict[str, Answer]] = {
    "filesystem": {
        **_NOT_THERE,
        # Two ways to make a file, and two folders of its own.
        "write_in_every_directory": Answer(
            held=("ENOENT EROFS",), won=("/tmp", "/tmp", "/workspace", "/workspace")
        ),
        "change_directory": Answer(won=("",)),
    },
    "network": {
        # By Landlock since Linux 6.7; without it, nothing listens there in a namespace of its own.
        "connect_to_loopback": Answer(held=("EACCES|ECONNREFUSED",)),
        "listen": Answer(held=("EPERM",), denied=("bind",)),
    },
    "data-science": {},
}


def expected(attack: Attack, tier: str) -> Attack | Answer:
    for part in tier.split("+"):
        if attack.name in OTHERWISE[part]:
            return OTHERWISE[part][attack.name]
    return attack


# --- a tier, with the tools to attack it ----------------------------------------------------------


def armed(tier: str, folder: Path) -> str:
    """The profile to start: what attack.toml has loaded, on top of a tier. A combination has no
    file; its packages load all of that themselves.
    """
    if "+" in tier:
        return tier
    given: set[str] = set()
    name: str | None = tier
    while name is not None:
        document = tomllib.loads((ROOT / f"profiles/{name}.toml").read_text())
        given |= document["modules"].keys()
        name = document.get("extends")
    lines = [
        "schema = 1",
        f'name = "attack-{tier}"',
        f'extends = "{tier}"',
        'summary = "The jail of a tier with the tools to attack it."',
        'attack_surface = ["What the tests try."]',
    ]
    for module, table in tomllib.loads(PROFILE.read_text())["modules"].items():
        if module not in given:
            lines += [f"[modules.{module}]"]
            lines += [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    path = folder / f"attack-{tier}.toml"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.fixture(scope="module", params=TIERS)
def tier(request: pytest.FixtureRequest) -> str:
    for name in {"data-science", "network"} & set(request.param.split("+")):
        need_packages(name)
    return request.param


@pytest.fixture(scope="module")
def session(tier: str, jail: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    session = Session(
        BELLJAR,
        *("--profile", armed(tier, tmp_path_factory.mktemp("tier"))),
        *("--policy", "off", "--memory", MEMORY),
        *("--allow-domain", "allowed.test"),  # or there is no egress proxy
        environment={**os.environ, "BELLJAR_TEST_SECRET": SECRET},
    )
    yield session
    session.close()


@pytest.fixture(scope="module")
def bystander() -> Iterator[tuple[subprocess.Popen, dict[str, int]]]:
    """One for all attacks."""
    with a_process_to_hurt() as hurt:
        yield hurt


def said(outcome: dict[str, Any], word: str) -> tuple[str, ...]:
    lines = [line.partition(" ") for line in outcome["stdout"].splitlines()]
    return tuple(rest for first, _, rest in lines if first == word)


def events(outcome: dict[str, Any]) -> set[tuple[str, str]]:
    return {(event["action"], event["detail"]) for event in outcome["security_events"]}


def agrees(held: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return len(held) == len(wanted) and all(
        one in other.split("|") for one, other in zip(held, wanted, strict=True)
    )


# --- the tests ------------------------------------------------------------------------------------


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_fails_inside(
    attack: Attack, tier: str, session: Session, host: Host, bystander: tuple
) -> None:
    process, victim = bystander
    before = host.state()
    outcome = session.run(program(attack.body, host.facts | victim))
    answer = expected(attack, tier)
    if isinstance(answer, Answer):
        assert outcome["status"] == "ok", outcome
        assert said(outcome, "WON") == answer.won, outcome
        assert agrees(said(outcome, "held"), answer.held), outcome
        assert events(outcome) == denials(answer.denied)
    else:
        assert "WON" not in outcome["stdout"], outcome
        assert outcome["status"] == answer.status, outcome
        assert (outcome["error"] or {}).get("message") == answer.reason
        wanted = denials(answer.denied)
        if answer.status == "killed":
            wanted.add(("killed", "a system call on the hostile list"))
        assert events(outcome) == wanted
        if answer.held != "*":
            held = (answer.held,) if isinstance(answer.held, str) else answer.held or ()
            assert agrees(said(outcome, "held"), held), outcome
    layers = {each["name"] for each in outcome["isolation"]["layers"] if each["held"]}
    assert layers - {"cgroup"} == set(ALL_LAYERS)
    assert host.state() == before
    assert process.poll() is None


def test_what_is_answered_otherwise_is_an_attack() -> None:
    names = {attack.name for attack in ATTACKS}
    assert all(answers.keys() <= names for answers in OTHERWISE.values())


HOSTILE = [name for entry in SYSCALLS["hostile"] for name in entry["calls"] if NUMBERS.has(name)]
GROUPS = {
    "filesystem": ("runtime", "files"),
    "network": ("runtime", "network"),
    "data-science": ("runtime",),
    EVERYTHING: ("runtime", "files", "network"),
}


def test_each_hostile_call_kills(tier: str, session: Session) -> None:
    for name in HOSTILE:
        body = f"call(NR['{name}'], -1, -1, -1, -1, -1, -1); won()"
        outcome = session.run(program(body, {}))
        assert outcome["status"] == "killed", (name, outcome)
        assert outcome["error"]["message"] == "killed for a hostile system call"


def test_no_other_call_reaches_the_kernel(tier: str, session: Session) -> None:
    """As in test_attacks.py: EPERM tells the filter from the kernel, to which most is nonsense."""
    allowed = {
        name for group in (*GROUPS[tier], "threads") for entry in SYSCALLS["group"][group]
        for name in entry["calls"] if NUMBERS.has(name)
    }  # fmt: skip
    known = sorted({NUMBERS[name] for name in {*HOSTILE, *allowed, "clone3"}} | {335, 336})
    body = EVERY_OTHER_CALL.format(known=known)
    outcome = session.run(program(body, {}))
    assert (outcome["status"], outcome["stdout"]) == ("ok", "done\n"), outcome


# --- what a tier adds, turned against it ----------------------------------------------------------

# HOST["library_file"] is there, and read-only; the current directory is the workspace.
ON_FILES = [
    Attack("unlink_the_library", "os.unlink(HOST['library_file']); won()", "EROFS"),
    Attack(
        "rename_over_the_library",
        "open('a', 'w').close(); os.rename('a', HOST['library_file']); won()",
        "EXDEV|EROFS",
    ),
    Attack("set_mode_of_the_library", "os.chmod(HOST['library_file'], 0o777); won()", "EROFS"),
    Attack("truncate_the_library", "os.truncate(HOST['library_file'], 0); won()", "EROFS|EACCES"),
    Attack("touch_the_library", "os.utime(HOST['library_file']); won()", "EROFS"),
    Attack("link_the_library", "os.link(HOST['library_file'], 'own'); won()", "EXDEV"),
    Attack("directory_in_the_library", "os.mkdir(HOST['library'] + '/own'); won()", "EROFS|EACCES"),
    Attack("link_out", "os.symlink('/etc/passwd', 'out'); won(open('out').read())", "ENOENT"),
    Attack("walk_out", "won(open('../' * 9 + 'etc/passwd').read())", "ENOENT"),
    Attack(
        "execute_its_own_program",
        """
with open('program', 'wb') as file:
    file.write(b'#!/bin/sh\\necho WON')
os.chmod('program', 0o755)
os.execv(os.path.abspath('program'), ['program'])
""",
        "EPERM",
        denied=("execve",),
    ),
    Attack(
        "map_its_own_file_as_code",
        """
with open('code', 'wb') as file:
    file.write(b'\\xc3' * 4096)
won(call(NR['mmap'], 0, 4096, 5, 2, os.open('code', os.O_RDONLY), 0))
""",
        "EPERM",
        denied=("mmap",),
    ),
    Attack(
        "load_its_own_library",
        """
import _ctypes
with open(_ctypes.__file__, 'rb') as file, open('own.so', 'wb') as copy:
    copy.write(file.read())
os.chmod('own.so', 0o755)
try:
    ctypes.CDLL(os.path.abspath('own.so'))
    won()
except OSError as error:
    print('held', 'no new code' if 'failed to map' in str(error) else error)
""",
        "no new code",
        denied=("mmap",),
    ),
    Attack("named_pipe", "os.mkfifo('pipe'); won()", "EPERM", denied=("mknodat",)),
    Attack(
        "named_socket",
        """
with socket.socket(socket.AF_UNIX) as server:
    server.bind('socket')
    won()
""",
        "EPERM",
        denied=("socket",),
    ),
    Attack(
        "more_than_there_is_room_for",
        """
for number in range(5):
    with open(str(number), 'wb', 0) as file:
        for each in range(16):
            file.write(bytes(1 << 20))
won()
""",
        "ENOSPC",
    ),
    Attack(
        "more_files_than_there_are_inodes",
        """
for number in range(5000):
    open(str(number), 'wb').close()
won()
""",
        "ENOSPC",
    ),
    Attack("a_file_with_holes", "open('holes', 'wb').truncate(1 << 40); won()", "EFBIG"),
]


@pytest.mark.parametrize("attack", ON_FILES, ids=str)
@pytest.mark.parametrize("tier", ["filesystem", EVERYTHING], indirect=True)
def test_a_workspace_opens_nothing(attack: Attack, tier: str, session: Session, host: Host) -> None:
    before = host.state()
    outcome = session.run(program(attack.body, host.facts))
    assert outcome["status"] == "ok", outcome
    assert "WON" not in outcome["stdout"], outcome
    assert agrees(said(outcome, "held"), (attack.held,)), outcome
    assert events(outcome) == denials(attack.denied)
    assert host.state() == before


@pytest.mark.parametrize("attack", ON_FILES, ids=str)
def test_a_folder_opens_it(attack: Attack, host: Host, tmp_path: Path) -> None:
    """The control: the same text in a folder of its own, beside a copy of the library."""
    copy = tmp_path / "library.py"
    copy.write_text("")
    facts = host.facts | {"library": str(tmp_path), "library_file": str(copy)}
    ran = run_outside(attack, facts, tmp_path)
    for path in tmp_path.iterdir():  # some are large
        path.rmdir() if path.is_dir() else path.unlink()
    assert "WON" in ran.stdout, f"this test proves nothing here: {ran.stdout}{ran.stderr}"


KNOCKING = """
import _socket  # the tier's socket.socket asks the egress proxy itself
reached, kinds = [], set()
for address in ('127.0.0.1', '127.0.0.2', '10.0.0.1', '169.254.169.254', '192.168.1.1', '8.8.8.8'):
    for port in range(1, 65536) if address == '127.0.0.1' else (22, 80, 443, 1080, HOST['port']):
        client = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        client.settimeout(1)
        try:
            client.connect((address, port))
            reached.append((address, port))
        except OSError as error:
            kinds.add(errno.errorcode[error.errno])
        client.close()
print(reached)
print(*sorted(kinds))
"""


@pytest.mark.parametrize("tier", ["network", EVERYTHING], indirect=True)
def test_nothing_answers_but_the_egress_proxy(tier: str, session: Session, host: Host) -> None:
    """All of loopback's ports, one of which is the host's, and what lies beyond it."""
    before = list(host.connections)  # of controls that ran in this process
    outcome = session.run(program(KNOCKING, host.facts))
    assert outcome["status"] == "ok", outcome
    reached, kinds = outcome["stdout"].splitlines()
    assert reached == "[('127.0.0.1', 1080)]", outcome
    assert set(kinds.split()) <= {"EACCES", "ECONNREFUSED", "ENETUNREACH"}
    assert host.connections == before
