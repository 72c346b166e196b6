"""The attacks in the first cell of a session, and once more in the second, which follows a copy.

The controls are those of test_attacks.py: the same texts.
"""

import json
import os
import subprocess
import time

import pytest

from tests.jail.attacks import ALL_LAYERS, ATTACKS
from tests.jail.conftest import (
    BELLJAR,
    PROFILE,
    SECRET,
    Ran,
    denials,
    left_in_session,
    program,
)
from tests.jail.test_attacks import facts, held_layers, said, skip_if_no_such_module, still_alive

__all__ = ["facts"]

# What is denied by another layer than in a single run, and so noted: a session's worker changes no
# limits of its own.
ALSO_DENIED = {"raise_limits": {("denied", "setrlimit")}}

# What the first cell has opened is still open in the second, and there are sixteen descriptors.
HELD_AGAIN = {"walk_up_from_the_library": ("ENOENT", "ENOENT", "EMFILE")}


class SessionRunner:
    """Runs each program as two cells of a session of its own, all of them in one sandbox."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            [str(BELLJAR.parent / "bin/jail_runner"), str(PROFILE), "--session"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "BELLJAR_TEST_SECRET": SECRET},
            start_new_session=True,
        )

    def close(self) -> None:
        if self.process:
            self.process.stdin.close()
            self.process.wait(30)
            self.process.stdout.close()
            left = left_in_session(self.process.pid)
            assert not left, f"processes are left behind: {left}"

    def run(self, code: str) -> list[Ran]:
        if self.process is None or self.process.poll() is not None:
            self.start()
        self.process.stdin.write(json.dumps(code).encode() + b"\n")
        self.process.stdin.flush()
        cells = []
        for _ in range(2):
            started = time.monotonic()  # clock: callers compare it
            line = self.process.stdout.readline()
            assert line, "the runner has ended"
            # clock: callers compare it
            cells.append(Ran(json.loads(line), 0, time.monotonic() - started, "", 0))
        return cells


@pytest.fixture(scope="module")
def sessions():
    runner = SessionRunner()
    yield runner
    runner.close()


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_fails_in_both_cells(attack, facts, host, jail, sessions, request):
    before = host.state()
    expected = denials(attack.denied) | ALSO_DENIED.get(attack.name, set())
    if attack.status == "killed":
        expected.add(("killed", "a system call on the hostile list"))
    for number, ran in enumerate(sessions.run(program(attack.body, facts)), 1):
        assert "WON" not in ran.stdout, ran.outcome
        skip_if_no_such_module(ran)
        assert ran.outcome["session"]["cell"] == number
        if attack.fills_memory and ran.status == "memory_limit":
            continue
        assert ran.status == attack.status, ran.outcome
        assert ran.reason == attack.reason
        assert ran.events == expected
        if attack.held != "*":
            held = (attack.held,) if isinstance(attack.held, str) else attack.held or ()
            if number == 2:
                held = HELD_AGAIN.get(attack.name, held)
            assert said(ran) == held
        assert held_layers(ran) == set(ALL_LAYERS)
        assert ran.isolation["mode"] == "strict"
        assert ran.outcome["session"]["restored"] == (attack.status == "killed")
    assert host.state() == before
    assert still_alive(request, attack)


def test_identity_and_descriptors_are_the_same_in_each_cell(jail, sessions):
    """0 to 2 are /dev/null, and there is one socket; the init is its parent."""
    first, second = sessions.run("""
import os, stat
for number in range(1024):
    try:
        found = os.fstat(number)
    except OSError:
        continue
    print(number, oct(stat.S_IFMT(found.st_mode)), found.st_rdev)
print(os.getresuid(), os.getresgid(), os.getppid(), dict(os.environ))
""")
    assert first.stdout == second.stdout
    *lines, last = first.stdout.splitlines()
    null = os.makedev(1, 3)
    assert [line.split()[1:] for line in lines[:3]] == [["0o20000", str(null)]] * 3
    assert [line.split()[1] for line in lines[3:]] == ["0o140000"]
    assert last.startswith("(65534, 65534, 65534) (65534, 65534, 65534) 1 ")
