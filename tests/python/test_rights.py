"""A program that gives up rights with a sandbox open: nothing of ours keeps them for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clocks import until
from tests.machine import need_root
from tests.python.conftest import PARENTS, Script

BEGIN = (
    PARENTS
    + """
import ctypes, os, sys, threading, time
from pathlib import Path
from belljar import BelljarError, Sandbox
from tests.clocks import until

def runs(pid):
    try:
        return "State:\\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False

box = Sandbox(spares=1)
box.wait_until_ready()
assert box.run("1").value == 1
before = parents()
assert len(before) == 1
print(before[0], flush=True)
"""
)

BECOME_A_USER = "os.setgroups([]); os.setresgid(1000, 1000, 1000); os.setresuid(1000, 1000, 1000)"
GAIN_NO_MORE = "ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)"  # PR_SET_NO_NEW_PRIVS


@pytest.fixture(params=["user", "nnp"])
def give_up(request: pytest.FixtureRequest) -> str:
    if request.param == "nnp":
        return GAIN_NO_MORE
    need_root("becomes another user")
    return BECOME_A_USER


def has_gone(pid: int) -> bool:
    return until(lambda: not Path(f"/proc/{pid}").exists())


def test_the_program_ends_and_leaves_nothing(script: Script, give_up: str) -> None:
    done = script(f"{BEGIN}{give_up}\n")
    assert done.returncode == 0, done.stderr
    assert has_gone(int(done.stdout))


def test_who_has_the_old_rights_goes_while_the_program_runs(script: Script, give_up: str) -> None:
    done = script(
        f"""{BEGIN}{give_up}
until(lambda: not runs(before[0]))
print("good")
"""
    )
    assert done.stdout.split()[1:] == ["good"], done.stderr


def test_a_limit_is_still_a_kill(script: Script, give_up: str) -> None:
    done = script(
        f"""{BEGIN}
def later():
    time.sleep(0.5)  # sleeps: the program runs by then
    {give_up}
threading.Thread(target=later).start()
try:
    end = box.run("while True: pass", timeout=3).status
except BelljarError as error:
    end = error.operation if "belljar-parent" in str(error) else str(error)
print(end)
""",
    )
    # What the program did to itself is no outcome of the guest's.
    assert done.stdout.splitlines()[1] in ("timeout", "run a program"), (done.stdout, done.stderr)


def test_with_fewer_rights_it_goes_on(script: Script) -> None:
    done = script(
        f"""{BEGIN}{GAIN_NO_MORE}
until(lambda: not runs(before[0]))
def works():
    try:
        return box.run("2").value == 2
    except BelljarError as error:  # a zygote that was beginning just then
        print(error, file=sys.stderr)
until(works)
assert parents() != before
print("good")
"""
    )
    assert done.stdout.split()[1:] == ["good"], done.stderr
