"""Threads of the kernel, which programs have with the policy off, and only then."""

import os
import subprocess
import sys

import pytest

from tests.jail.conftest import BELLJAR, SLOWNESS, belljar, slowly
from tests.machine import need_root

MOST = 128  # of a worker, the first included

COUNT = """
import threading
threading.stack_size(128 << 10)  # the least on 64-bit Arm
stop = threading.Event()
made = 0
try:
    while made < 1000:
        threading.Thread(target=stop.wait).start()
        made += 1
except RuntimeError as error:
    print(made, error)
"""


def run(code, *options, profile="basic"):
    return belljar(code, *options, profile=profile)


def test_they_run_at_the_same_time(jail):
    ran = run(
        """
from concurrent.futures import ThreadPoolExecutor
import threading, time
meeting = threading.Barrier(20, timeout=20)
with ThreadPoolExecutor(20) as pool:
    print(sorted(pool.map(lambda n: (meeting.wait(), n)[1], range(20))) == list(range(20)))
"""
    )
    assert (ran.status, ran.stdout) == ("ok", "True\n"), ran.outcome
    assert ("denied", "clone") not in ran.events


def test_there_are_as_many_as_the_limit_says(jail):
    ran = run(COUNT + "stop.set()\n")
    assert ran.stdout == f"{MOST - 1} can't start new thread\n", ran.outcome


@pytest.mark.parametrize("profile", ["filesystem", "full"])
def test_every_profile_has_them(jail, profile):
    ran = run(COUNT + "stop.set()\n", profile=profile)
    assert ran.stdout == f"{MOST - 1} can't start new thread\n", ran.outcome
    assert ran.isolation["policy"] == "off"


def test_with_the_policy_there_are_none(jail):
    """Threads are then the policy's own: RLIMIT_NPROC and the filter are as they were."""
    code = "import threading\nthreading.Thread(target=print, args=('ran',)).start()"
    done = subprocess.run(
        [BELLJAR, "run", "--json", "-c", code], capture_output=True, text=True, check=False
    )
    assert '"stdout":"ran\\n"' in done.stdout
    assert '"processes":1' in done.stdout.replace(" ", "")


def test_those_that_never_end_die_with_the_worker(jail):
    spin = """
import threading
def spin():
    while True: pass
for _ in range(8): threading.Thread(target=spin, daemon={daemon}).start()
print('main ends', flush=True)
"""
    ran = run(spin.format(daemon=True))  # belljar() finds what is left behind
    assert (ran.status, ran.stdout) == ("ok", "main ends\n"), ran.outcome
    ran = run(spin.format(daemon=False), "--timeout", slowly(5))
    assert (ran.status, ran.stdout) == ("timeout", "main ends\n"), ran.outcome
    assert ran.seconds < 20 * SLOWNESS


SPIN = """
import hashlib, threading, time
end = {end}
def spin():
    while time.process_time() < end:
        hashlib.sha256(bytes(1 << 20))  # without the interpreter's lock
threads = [threading.Thread(target=spin) for _ in range({threads})]
for each in threads: each.start()
for each in threads: each.join()
"""


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_their_processor_time_counts_together(jail, threads):
    cpu = slowly(2)
    ran = run(
        SPIN.format(end="float('inf')", threads=threads), "--timeout", slowly(30), "--cpu", cpu
    )
    assert ran.status == "cpu_limit", ran.outcome
    assert cpu <= ran.usage["cpu_time"] <= 1.1 * cpu, ran.usage
    # The control: with more of it, they use more. Their clock began before the run.
    ran = run(
        SPIN.format(end=1.5 * cpu, threads=threads), "--timeout", slowly(30), "--cpu", slowly(4)
    )
    assert ran.status == "ok", ran.outcome
    assert ran.usage["cpu_time"] > 1.1 * cpu


def test_memory_is_bounded_with_them(jail):
    ran = run(
        """
import threading
threading.stack_size(16 << 20)
try:
    for _ in range(100): threading.Thread(target=threading.Event().wait, daemon=True).start()
except RuntimeError as error:
    print(error)
""",
        "--memory", "64m",
    )  # fmt: skip
    assert ran.stdout == "can't start new thread\n", ran.outcome


def test_a_denied_call_in_a_thread_is_an_exception_there(jail):
    ran = run("""
import os, threading
def fork():
    try:
        os.fork()
    except OSError as error:
        print(type(error).__name__)
thread = threading.Thread(target=fork)
thread.start()
thread.join()
""")
    assert (ran.status, ran.stdout) == ("ok", "PermissionError\n"), ran.outcome
    assert ran.events == {("denied", "clone")}


# The first leaves its threads waiting until the second has counted its own. Workers of one zygote.
NEIGHBOURS = f"""
import threading
from belljar import Sandbox
COUNT = {COUNT!r}
with Sandbox(policy="off", spares=2, timeout=60) as box:
    counted, done = threading.Event(), threading.Event()
    answers = {{}}
    def ready():
        counted.set()
        done.wait(50)
    def first():
        answers["first"] = box.run(COUNT + "ready()\\nstop.set()", functions={{"ready": ready}})
    thread = threading.Thread(target=first)
    thread.start()
    counted.wait(50)
    answers["second"] = box.run(COUNT + "stop.set()")
    done.set()
    thread.join()
    for name in ("first", "second"):
        print(name, answers[name].stdout or answers[name].error, end="")
"""


def test_those_of_one_worker_take_none_from_another(jail):
    done = subprocess.run(
        [sys.executable, "-c", NEIGHBOURS],
        env={**os.environ, "PYTHONPATH": str(BELLJAR.parent / "python")},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    wanted = f"{MOST - 1} can't start new thread"
    assert done.stdout == f"first {wanted}\nsecond {wanted}\n", done.stdout + done.stderr


def test_the_control_without_a_namespace_of_its_own(jail):
    """Other processes of the user take from the number where the worker has no user namespace."""
    need_root("makes processes of the user that guests are")
    with subprocess.Popen(
        [sys.executable, "-c", COUNT + "print('counted', flush=True)\nstop.wait()"],
        user=65534, stdout=subprocess.PIPE, text=True,
    ) as others:  # fmt: skip
        assert "counted" in iter(others.stdout.readline, "").__next__()
        shared = run(COUNT + "stop.set()\n", "--without", "namespaces")
        own = run(COUNT + "stop.set()\n")
        others.kill()
    assert shared.stdout == "0 can't start new thread\n", shared.outcome
    assert own.stdout == f"{MOST - 1} can't start new thread\n", own.outcome
