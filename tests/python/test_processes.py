"""Fork, spawn, signals, children of the application's own, and the interpreter's end."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from belljar import Sandbox, _host

from tests.clocks import UNTIL_KILLED, until
from tests.python.conftest import Script, environment

# As the text of a literal.
SLOW = repr("print('begun', flush=True)\n" + UNTIL_KILLED)[1:-1]


def in_child(step: Callable[[], bool]) -> bool:
    """Whether `step` is true in a child that fork makes."""
    pid = os.fork()
    if pid == 0:
        good = False
        try:
            good = step()
        finally:
            os._exit(0 if good else 1)
    try:
        _, status = until(lambda: (found := os.waitpid(pid, os.WNOHANG))[0] and found)
    except AssertionError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    return os.waitstatus_to_exitcode(status) == 0


def test_a_forked_child_has_its_own_workers() -> None:
    with Sandbox(spares=2) as box:
        assert box.run("1").value == 1
        parents = box._engine
        assert parents is not None
        pid = parents.counters()["zygote_pid"]

        def step() -> bool:
            good = box.run("6 * 7").value == 42
            mine = box._open()
            good &= mine is not parents and mine.counters()["zygote_pid"] != pid
            box.close()
            return good

        for _ in range(3):
            assert in_child(step)
        # The parent's own are as they were.
        assert box._engine is parents
        assert parents.counters()["zygote_pid"] == pid
        assert box.run("2").value == 2
        assert parents.counters()["zygotes_started"] == 1


def test_a_forked_child_keeps_no_descriptor_of_the_parents() -> None:
    before = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if fd_is(fd)}
    with Sandbox(spares=3) as box:
        box.wait_until_ready(30)
        ours = links() - before
        assert ours

        def step() -> bool:
            return not (links() & ours)

        assert in_child(step)
        assert links() & ours == ours


def test_what_a_child_inherits_writes_into_no_file_of_its_own(tmp_path: Path) -> None:
    """A run is cancelled by a descriptor, whose number is another file's in a child."""
    before = numbers()
    cancellations = [_host.Canceller() for _ in range(20)]
    with Sandbox() as box:
        assert box.run("1").value == 1
        results = box.run_many(["1", *[UNTIL_KILLED] * 3], concurrency=2)
        assert next(results).value == 1

        taken = numbers() - before
        assert len(taken) > 20

        def step() -> bool:
            free = taken - numbers()  # which become those of files
            good = len(free) > 20
            for number in sorted(free):
                opened = os.open(tmp_path / str(number), os.O_WRONLY | os.O_CREAT)
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
            for each in cancellations:
                each.cancel()
            results.close()  # type: ignore[attr-defined]
            good &= not any(each.is_cancelled for each in cancellations)
            return good and all(os.fstat(number).st_size == 0 for number in free)

        assert in_child(step)
        results.close()  # type: ignore[attr-defined]
    cancellations[0].cancel()
    assert [each.is_cancelled for each in cancellations[:2]] == [True, False]


def numbers() -> set[int]:
    return set(map(int, filter(fd_is, os.listdir("/proc/self/fd"))))


def fd_is(fd: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{fd}")


def links() -> set[str]:
    found = set()
    for fd in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{fd}"))
        except FileNotFoundError:
            pass  # of the listing itself
    return found


def test_what_a_child_has_does_not_keep_the_parents_alive(script: Script) -> None:
    """The parent is killed; its zygote and workers go, although a child of its goes on."""
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            """
import os, signal, time
from belljar import Sandbox
box = Sandbox(spares=2)
box.wait_until_ready(30)
zygote = box._engine.counters()["zygote_pid"]
child = os.fork()
if child == 0:
    signal.pause()
print(zygote, child, flush=True)
signal.pause()
""",
        ],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        zygote, child = map(int, process.stdout.readline().split())
        process.kill()
        process.wait()
        try:
            until(lambda: not is_running(zygote), "the zygote lives on")
            assert is_running(child)
        finally:
            os.kill(child, signal.SIGKILL)


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_fork_while_threads_run(script: Script) -> None:
    done = script("""
import os, threading
from belljar import Sandbox
box = Sandbox()
stop = threading.Event()
def work():
    while not stop.is_set():
        assert box.run("1 + 1").value == 2
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(10):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if box.run("3").value == 3 else 2
            box.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
stop.set()
for thread in threads: thread.join()
box.close()
print("good")
""")
    assert (done.stdout, done.returncode) == ("good\n", 0), done.stderr


def test_fork_within_a_callback(script: Script) -> None:
    done = script("""
import os, sys
from belljar import BelljarError, Sandbox
box = Sandbox()
pids = []
def fork():
    pid = os.fork()
    pids.append(pid)
    return pid
try:
    result = box.run("fork()", functions={"fork": fork})
except BelljarError as error:
    assert pids == [0], pids
    assert "parent process of this fork" in str(error), error
    assert box.run("5").value == 5
    box.close()
    os._exit(7)
assert result.value == pids[0] > 0
assert os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1]) == 7
assert box.run("6").value == 6
print("good")
""")
    assert (done.stdout, done.returncode) == ("good\n", 0), done.stderr


def value_of(box: Sandbox, code: str) -> object:
    return box.run(code).value


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method: str, script: Script) -> None:
    done = script(f"""
import multiprocessing, sys
sys.path.insert(0, {os.getcwd()!r})
from belljar import Sandbox
from tests.python.pooled import value_of
if __name__ == "__main__":
    with Sandbox() as box:
        assert box.run("1").value == 1
        with multiprocessing.get_context({method!r}).Pool(2) as pool:
            print(pool.starmap(value_of, [(box, f"{{n}} * 2") for n in range(6)]))
        assert box.run("2").value == 2
""")
    assert done.stdout == "[0, 2, 4, 6, 8, 10]\n", done.stderr
    assert done.returncode == 0


def test_it_pickles_as_its_options() -> None:
    with Sandbox(timeout=3, memory="64m", allowed_imports=["math"]) as box:
        again = pickle.loads(pickle.dumps(box))
    with again:
        result = again.run("import math\nmath.floor(1.5)")
        assert (result.value, result.limits.timeout) == (1, 3)
        assert again.run("import json").status == "refused"


@pytest.mark.parametrize("first", ["", "import belljar._sandbox"], ids=["first", "after-main"])
def test_in_a_sub_interpreter_it_says_so(script: Script, first: str) -> None:
    done = script(f'''
try:
    import _interpreters  # 3.13
    interpreter = _interpreters.create("legacy")
    run = _interpreters.run_string
except ImportError:
    try:
        import _xxsubinterpreters
    except ImportError:
        print("there are none")
        raise SystemExit
    interpreter = _xxsubinterpreters.create(isolated=False)
    run = _xxsubinterpreters.run_string
{first}
told = run(interpreter, """
try:
    from belljar import Sandbox
except ImportError as error:
    print(error, flush=True)
""")
assert told is None, told
''')
    if done.stdout == "there are none\n":
        pytest.skip("this Python has no module for sub-interpreters")
    assert done.stdout == "belljar supports the main interpreter only\n", done.stderr
    assert done.returncode == 0, done.stderr


# --- signals --------------------------------------------------------------------------------------

INTERRUPTED = """
import os, signal, threading, time
from belljar import Sandbox
from tests.clocks import UNTIL_KILLED
box = Sandbox(**{options})
{before}
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    {call}
except KeyboardInterrupt:
    print("interrupted")
else:
    print("it went on")
{after}
box.close()
"""


@pytest.mark.parametrize(
    ("options", "before", "call"),
    [
        ({}, "box.run('1')", f'box.run("{SLOW}")'),
        ({}, "box.run('1')", 'box.run("while True: pass")'),
        ({}, "box.run('1')", f'list(box.run_many(["{SLOW}"] * 3))'),
        (
            {"spares": 1},
            # All spares are taken, and none can be made while SIGSTOP holds the zygote.
            "box.wait_until_ready()\nbox.run('1')\n"
            "os.kill(box._engine.counters()['zygote_pid'], signal.SIGSTOP)\n"
            "[threading.Thread(target=box.run, args=(UNTIL_KILLED,),"
            # sleeps: they are taken by then
            " daemon=True).start() for _ in range(2)]\ntime.sleep(0.2)",
            'box.run("1")',
        ),
        (
            {},
            "box.wait_until_ready()\n"
            "os.kill(box._engine.counters()['zygote_pid'], signal.SIGSTOP)\n"
            # sleeps: it has stopped by then
            "time.sleep(0.2)\nwhile box._engine.counters()['waiting']: box.run('1')",
            "box.wait_until_ready()",
        ),
        (
            {},
            "begun, go_on = threading.Event(), threading.Event()\n"
            "hangs = lambda: (begun.set(), go_on.wait())\n"
            "threading.Thread(target=box.run, args=('f()',),"
            " kwargs={'functions': {'f': hangs}}).start()\nbegun.wait()",
            "box.close()",
        ),
        ({}, "box.run('1')", 'box.run("f()", functions={"f": threading.Event().wait})'),
    ],
    ids=["sleeps", "loops", "many", "waits-for-a-worker", "wait_until_ready", "close", "function"],
)
def test_ctrl_c(script: Script, options: dict[str, int], before: str, call: str) -> None:
    after = "os.kill(box._engine.counters()['zygote_pid'], signal.SIGCONT)"
    if call == "box.close()":
        after = "go_on.set()"
    elif "SIGSTOP" not in before:
        after = "assert box.run('1').value == 1"
    code = INTERRUPTED.format(options=options, before=before, call=call, after=after)
    done = script(code)
    assert (done.stdout, done.returncode) == ("interrupted\n", 0), done.stderr


def test_other_handlers_run_while_it_runs(script: Script) -> None:
    done = script("""
import os, signal, threading, time
from belljar import Sandbox
from tests.clocks import UNTIL_KILLED
box = Sandbox()
seen = []
def is_main():
    return threading.current_thread() is threading.main_thread()
signal.signal(signal.SIGUSR1, lambda *_: seen.append(is_main()))
shown = []
def show(name, text):
    shown.append(text)
    os.kill(os.getpid(), signal.SIGUSR1)
# sleeps: it runs on after each
assert box.run("import time\\nfor n in 1, 2:\\n    print(n, flush=True)\\n    time.sleep(0.4)\\n5",
               stream=show).value == 5
assert seen == [True] * len(shown) and seen, (seen, shown)
def out_of_time(*_): raise TimeoutError("mine")
signal.signal(signal.SIGALRM, out_of_time)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    box.run(UNTIL_KILLED)
except TimeoutError as error:
    print(error)
""")
    assert (done.stdout, done.returncode) == ("mine\n", 0), done.stderr


@pytest.mark.parametrize("leaves", [False, True], ids=["returns", "exits"])
@pytest.mark.parametrize("call", [f'box.run("{SLOW}")', "box.wait_until_ready()"])
def test_a_handler_that_closes(script: Script, call: str, leaves: bool) -> None:
    done = script(f"""
import os, signal, sys, threading, time
from belljar import BelljarError, Sandbox
box = Sandbox()
box.wait_until_ready()
pid = box._engine.counters()["zygote_pid"]
if "wait" in {call!r}:
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.2)  # sleeps: it has stopped by then
    while box._engine.counters()["waiting"]: box.run("1")
def close(*_):
    box.close()
    if {leaves}:
        sys.exit(3)
signal.signal(signal.SIGTERM, close)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
try:
    done = {call}
    print(done.status, done.error.type)
except BelljarError as error:
    print(error)
box.close()
try:
    os.kill(pid, 0)
    print("it lives on")
except ProcessLookupError:
    pass
""")
    if leaves:
        assert (done.stdout, done.returncode) == ("", 3), done.stderr
    elif "wait" in call:
        assert "it is closed" in done.stdout and done.returncode == 0, done.stderr
    else:
        assert (done.stdout, done.returncode) == ("killed Cancelled\n", 0), done.stderr


def test_our_threads_take_no_signals() -> None:
    with Sandbox("network", spares=1) as box:
        box.wait_until_ready(30)
        box.run("1")
        blocked = {}
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/status") as file:
                fields = dict(line.rstrip("\n").split(":\t") for line in file)
            blocked[task] = int(fields["SigBlk"], 16)
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
        ours = {task: mask for task, mask in blocked.items() if int(task) != os.getpid()}
        assert mask == signal.pthread_sigmask(signal.SIG_BLOCK, [])
        catchable = 1 << (signal.SIGINT - 1) | 1 << (signal.SIGTERM - 1) | 1 << (signal.SIGCHLD - 1)
        # At least the keeper and the egress proxy's.
        assert sum(bits & catchable == catchable for bits in ours.values()) >= 2
        assert blocked[str(os.getpid())] & catchable == 0


# --- the interpreter's end ------------------------------------------------------------------------


def test_no_thread_begins_at_the_end(script: Script) -> None:
    """CPython 3.11 crashes if one begins while it finalises itself."""
    done = script("""
import atexit
def late():
    print("late")
    try:
        print(list(box.run_many(["1"])))
    except BelljarError as error:
        print(error)
atexit.register(late)  # called after what the import registers
from belljar import BelljarError, Sandbox
box = Sandbox()
box.run("1")
""")
    assert done.stdout == "late\nrun in a sandbox: the interpreter is ending\n", done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize("call", ["run", "many", "callback"])
def test_the_end_with_runs_in_daemon_threads(script: Script, threads: int, call: str) -> None:
    calls = {
        "run": f'box.run("{SLOW}", stream=lambda *_: begun.release())',
        "many": f'list(box.run_many(["{SLOW}"] * 2, stream=lambda *_: begun.release()))',
        # sleeps: it returns after the interpreter's end has begun
        "callback": 'box.run("f()", functions={"f": lambda: (begun.release(), time.sleep(2))})',
    }
    done = script(f"""
import threading, time
from belljar import Sandbox
box = Sandbox()
begun = threading.Semaphore(0)
def work():
    while True:
        {calls[call]}
for _ in range({threads}):
    threading.Thread(target=work, daemon=True).start()
for _ in range({threads}):
    begun.acquire()
print("end", flush=True)
""")
    assert done.stdout == "end\n"
    assert done.returncode == 0, done.stderr
    assert "Fatal" not in done.stderr and "terminate" not in done.stderr


def test_the_end_of_asyncio_with_runs_in_flight(script: Script) -> None:
    done = script(f"""
import asyncio
from belljar import AsyncSandbox
async def main():
    box = AsyncSandbox()
    begun = asyncio.Event()
    asyncio.create_task(box.run("{SLOW}", stream=lambda *_: begun.set()))
    await begun.wait()
asyncio.run(main())
print("end")
""")
    assert (done.stdout, done.returncode) == ("end\n", 0), done.stderr


def test_the_end_while_a_callback_never_returns(script: Script) -> None:
    """Nothing crashes: the thread stays where it is until the process ends."""
    done = script(
        """
import threading, time
import belljar
box = belljar.Sandbox()
begun = threading.Event()
def forever():
    begun.set()
    threading.Event().wait()
threading.Thread(target=lambda: box.run("f()", functions={"f": forever}), daemon=True).start()
begun.wait()
""",
    )
    assert done.returncode == 0, done.stderr


def test_exits_leave_nobody(script: Script) -> None:
    for how in ("", "import sys; sys.exit(3)", "import os; os._exit(4)", "raise SystemError"):
        done = script(f"""
from belljar import Sandbox
box = Sandbox()
box.wait_until_ready()
print(box._engine.counters()["zygote_pid"], flush=True)
{how}
""")
        pid = int(done.stdout)
        until(lambda pid=pid: not is_running(pid), how)  # type: ignore[misc]


def test_nothing_is_left_of_many_sandboxes() -> None:
    children = subprocess.run(
        ["ps", "--no-headers", "-o", "pid,comm", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    )
    for _ in range(3):
        with Sandbox(spares=1) as box:
            box.wait_until_ready(30)
    after = subprocess.run(
        ["ps", "--no-headers", "-o", "pid,comm", "--ppid", str(os.getpid())],
        capture_output=True,
        text=True,
        check=False,
    )

    def ours(text: str) -> list[str]:
        return [line for line in text.splitlines() if "belljar" in line]

    assert len(ours(after.stdout)) <= len(ours(children.stdout))
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("call", ["box.run('1')", "box.validate('1')", "box.wait_until_ready(9)"])
def test_threads_that_go_on_asking_at_the_interpreters_end(script: Script, call: str) -> None:
    for _ in range(4):  # some of them ended by a signal each time
        done = script(f"""
import threading, time
from belljar import Sandbox
box = Sandbox()
box.run("1")
def ask():
    while True:
        try:
            {call}
        except Exception:
            pass
for _ in range(3):
    threading.Thread(target=ask, daemon=True).start()
time.sleep(0.2)  # sleeps: they ask by then
print("end")
""")
        assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_what_is_imported_afresh_makes_its_own_results(script: Script) -> None:
    done = script("""
import pickle, sys
def of_this_import():
    import belljar
    with belljar.Sandbox() as box:
        result = box.run("(1, 2)")
        assert isinstance(result, belljar.Result) and result.value == (1, 2)
        assert isinstance(result.isolation, belljar.Isolation)
        assert isinstance(result.limits, belljar.Limits)
        pickle.dumps(result)
        try:
            box.run("1 / 0", raise_on_error=True)
        except belljar.GuestFailed:
            raised.append("guest")
        engine = box._open()
    try:
        belljar._sandbox._host.run(engine, {"source": b"1"}, None, True)
    except belljar.BelljarError as error:
        raised.append(error.operation)
        assert error.errno is None and "it is closed" in str(error)
raised = []
of_this_import()
for name in [name for name in sys.modules if name.startswith("belljar")]:
    del sys.modules[name]
of_this_import()
print(raised)
""")
    assert done.stdout == f"{['guest', 'run in a sandbox'] * 2}\n", done.stderr
