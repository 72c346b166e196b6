"""Runs side by side in one program: none ends another, and what fails on our side is an error."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.machine import need_open, need_root
from tests.python.conftest import PACKAGE, PARENTS, Script

NOBODY = 65534


@pytest.fixture(params=["as we are", "user"])
def who(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Options of subprocess.run()."""
    if request.param == "as we are":
        return {}
    need_root("becomes another user")
    need_open(PACKAGE, sys.executable)
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


BEGIN = (
    PARENTS
    + """
import collections, contextlib, json, os, signal, sys, threading, time
from pathlib import Path
from belljar import BelljarError, Sandbox
from tests.clocks import UNTIL_KILLED, until

BEGUN = "print('begun', flush=True)\\n"

def end_of(box, code, **options):
    '''How the run ended, in words that can be counted.'''
    try:
        result = box.run(code, **options)
    except BelljarError as error:
        return f"BelljarError: {error}"
    return result.status if result.ok else f"{result.status}: {result.error.message}"

class Begun:
    '''Runs in threads of their own; begun once each has printed something.'''
    def __init__(self, runs):
        self.ends = [None] * len(runs)
        begun = [threading.Event() for _ in runs]
        def run(number, box, code):
            self.ends[number] = end_of(box, code, stream=lambda *_: begun[number].set())
        self.threads = [
            threading.Thread(target=run, args=(number, *each)) for number, each in enumerate(runs)
        ]
        for thread in self.threads:
            thread.start()
        assert all(event.wait(60) for event in begun)
    def go_on(self):
        return any(thread.is_alive() for thread in self.threads)
    def join(self):
        for thread in self.threads:
            thread.join(60)
        return self.ends

def linger(seconds):
    # sleeps: it is there while others run
    return f"import time\\nprint('begun', flush=True)\\ntime.sleep({seconds})"
"""
)


def answer_of(script: Script, code: str, **options: Any) -> Any:
    done = script(BEGIN + code, cwd="/", **{"timeout": 110, **options})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Each belljar-parent compares the rights of the program's main thread, which changes its file
# system's user around the files of a run: many of them, so that somebody looks while it does.
SLEEPERS = """
files = {f"folder/{number}": "x" for number in range(300)}
change = "from pathlib import Path\\nfor path in Path('folder').iterdir(): path.write_text('y')"
with Sandbox("filesystem") as box, Sandbox("filesystem") as other, Sandbox("basic") as basic:
    begun = Begun([(box, linger(3)), (other, linger(3)), (basic, linger(3))])
    opened = []
    def open_others():
        while begun.go_on():
            with Sandbox("basic", spares=1) as fresh:
                opened.append(end_of(fresh, "1"))
    opener = threading.Thread(target=open_others)
    opener.start()
    ends = collections.Counter()
    while begun.go_on():
        ends[end_of(box, "1")] += 1
        ends[end_of(box, change, files=files)] += 1
    opener.join()
    print(json.dumps({"sleepers": begun.join(), "others": ends, "opened": opened}))
"""


def test_a_run_with_files_ends_no_other(script: Script, who: dict[str, Any]) -> None:
    answer = answer_of(script, SLEEPERS, **who)
    assert answer["sleepers"] == ["ok"] * 3
    assert list(answer["others"]) == ["ok"]
    assert answer["others"]["ok"] >= 2
    assert set(answer["opened"]) == {"ok"}


# `runs` in the main thread, one after the other, and as many in threads, over three sandboxes.
STORM = """
runs = int(sys.argv[1])
ends = []  # threads append to it
with Sandbox("filesystem") as box, Sandbox("filesystem") as other, Sandbox("basic") as basic:
    def work(number, runs):
        boxes = (box, other, basic)
        for each in range(runs):
            ends.append(end_of(boxes[(number + each) % 3], "1"))
    for each in (box, other, basic):
        each.wait_until_ready(60)
    before = set(parents())
    for each in range(runs):
        ends.append(end_of(box, "1"))
    threads = [threading.Thread(target=work, args=(number, runs // 4)) for number in range(3)]
    for thread in threads:
        thread.start()
    work(3, runs // 4)  # the main thread too
    for thread in threads:
        thread.join()
    same = set(parents()) == before
    print(json.dumps({"ends": collections.Counter(ends), "same parents": same}))
"""


def storm(script: Script, runs: int, who: dict[str, Any], timeout: float) -> None:
    answer = answer_of(script, f"sys.argv[1:] = ['{runs}']\n{STORM}", timeout=timeout, **who)
    assert answer == {"ends": {"ok": 2 * runs}, "same parents": True}


@pytest.mark.timeout(300)
def test_some_hundred_runs_all_end_well(script: Script, who: dict[str, Any]) -> None:
    storm(script, 200, who, 280)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_ten_thousand_runs_all_end_well(script: Script, who: dict[str, Any]) -> None:
    storm(script, 10_000, who, 3600)


# The guest has no way to it: who kills it is an operator, or the machine.
KILL = """
with Sandbox({profile!r}, spares=1) as box:
    box.wait_until_ready(60)
    (first,) = parents()
    with Sandbox("basic", spares=1) as other:
        other.wait_until_ready(60)
        begun = Begun([(box, BEGUN + UNTIL_KILLED), (box, {spin!r}), (other, linger(2))])
        os.kill(first, signal.SIGKILL)
        ends = begun.join()
        after = until(lambda: end_of(box, "1") == "ok" and "ok")
        print(json.dumps({{"ends": ends, "after": after}}))
"""
SPIN = "print('begun', flush=True)\nwhile True: pass"


@pytest.mark.parametrize("profile", ["basic", "filesystem"])
def test_the_end_of_the_parent_is_no_outcome(
    script: Script, profile: str, who: dict[str, Any]
) -> None:
    answer = answer_of(script, KILL.format(profile=profile, spin=SPIN), **who)
    *ours, neighbour = answer["ends"]
    assert ours == [ours[0]] * 2
    assert ours[0].startswith("BelljarError: run a program: belljar-parent, ")
    assert (neighbour, answer["after"]) == ("ok", "ok")


# What the host decided stays an outcome, and so does what a guest did to itself.
KILLED = """
with Sandbox(policy="off") as box:
    ends = [
        end_of(box, UNTIL_KILLED, timeout=0.2),
        end_of(box, "import os\\nos._exit(3)"),
        end_of(box, "import ctypes\\nctypes.string_at(0)"),
    ]
    print(json.dumps(ends))
"""


def test_what_a_guest_did_is_an_outcome(script: Script) -> None:
    timeout, exited, crashed = answer_of(script, KILLED)
    assert timeout.startswith("timeout: ")
    assert exited == "killed: the process exited with code 3"
    assert crashed.startswith(("killed: killed by SIGSEGV", "exception: "))


# The kernel clears it when the file system's user changes, as it does around files.
SUPERVISED = """
import ctypes
prctl = ctypes.CDLL(None).prctl
prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
with Sandbox("filesystem") as box:
    ends = [end_of(box, "open('a').read()", files={"a": "x"})]
kept = ctypes.c_int()
prctl(2, ctypes.byref(kept))
print(json.dumps([ends, kept.value]))
"""


def test_a_program_still_ends_with_its_supervisor(script: Script) -> None:
    need_root("keeps what a change of user would clear")
    assert answer_of(script, SUPERVISED) == [["ok"], 15]
