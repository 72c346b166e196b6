"""Children of the application's own: nobody is taken for another's."""

from __future__ import annotations

import pytest

from tests.python.conftest import Script

BEGIN = """
import asyncio, os, signal, subprocess, sys, threading, time
from belljar import Sandbox
from tests.clocks import UNTIL_KILLED, until
box = Sandbox(spares=2)
box.wait_until_ready()
assert box.run("1").value == 1

def keep_running():
    stop = threading.Event()
    def work():
        while not stop.is_set():
            box.run("1 + 1")
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return lambda: (stop.set(), thread.join())
"""

CASES = {
    "there is nobody to wait for": """
try:
    print(os.wait())
except ChildProcessError:
    print("good")
""",
    "os.wait gives the application's own": """
own = {subprocess.Popen(["sleep", "0.3"]).pid for _ in range(3)}
end = keep_running()
assert {os.wait()[0] for _ in range(3)} == own
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("good")
end()
""",
    "SIGCHLD is the application's own": """
seen = []
signal.signal(signal.SIGCHLD, lambda *_: seen.append(1))
for _ in range(20):
    box.run("1")
assert box.run("while True: pass", timeout=0.1).status in ("timeout", "cpu_limit")
time.sleep(0.3)  # sleeps: it would come
assert not seen, seen
subprocess.run(["true"])
assert seen
print("good")
""",
    "SIGCHLD is ignored": """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for again in range(2):
    result = box.run(UNTIL_KILLED, timeout=0.2)
    assert result.status == "timeout" and result.usage.max_rss_bytes > 1 << 20, result
    result = box.run("import sys\\nsys.setrecursionlimit(10**9)\\ndef f(): f()\\nf()")
    assert box.run("bytearray(1 << 40)").status == "memory_limit"
    box.close()
    box = Sandbox(spares=1)  # begins with it ignored
print("good")
""",
    "subprocess": """
end = keep_running()
for number in range(40):
    assert subprocess.run(["sh", "-c", f"exit {number}"]).returncode == number
end()
print("good")
""",
    "how a program was killed": """
with Sandbox(policy="off") as full:
    result = full.run("import os, signal\\nos.kill(os.getpid(), 9)\\nos.abort()")
    assert result.status in ("killed", "exception"), result
    result = full.run("import os\\nos._exit(3)")
    assert (result.status, "code 3" in result.error.message) == ("killed", True), result
print("good")
""",
} | {
    f"asyncio by {watcher}": f"""
async def main():
    for number in range(10):
        # It waits to be told: CPython's MultiLoopChildWatcher loses a child that ends while
        # it is being registered, since its signal handler and add_child_handler both wait for it.
        process = await asyncio.create_subprocess_exec(
            "sh", "-c", f"read line; exit {{number}}", stdin=asyncio.subprocess.PIPE
        )
        value = asyncio.create_task(asyncio.to_thread(box.run, "1 + 1"))
        process.stdin.close()
        assert await process.wait() == number
        assert (await value).value == 2
watcher = getattr(asyncio, {watcher!r}, None)
if watcher is not None:
    watcher = watcher()
    policy = asyncio.get_event_loop_policy()
    loop = policy.new_event_loop()
    asyncio.set_event_loop(loop)
    if hasattr(watcher, "attach_loop"):
        watcher.attach_loop(loop)
    policy.set_child_watcher(watcher)
    loop.run_until_complete(main())
print("good")
"""
    for watcher in (
        "ThreadedChildWatcher",
        "PidfdChildWatcher",
        "SafeChildWatcher",
        "FastChildWatcher",
        "MultiLoopChildWatcher",
    )
}


@pytest.mark.parametrize("name", CASES)
def test_children(script: Script, name: str) -> None:
    done = script(BEGIN + CASES[name] + "\nbox.close()\n")
    assert (done.stdout, done.returncode) == ("good\n", 0), done.stderr
    assert "Unknown child process" not in done.stderr


def test_the_parent_is_started_again_when_somebody_kills_it(script: Script) -> None:
    done = script(
        BEGIN
        + """
def parent():
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as file:
            for pid in file.read().split():
                with open(f"/proc/{pid}/comm") as name:
                    if name.read() == "belljar-parent\\n":
                        return int(pid)
first = parent()
os.kill(first, signal.SIGKILL)
def is_there_again():
    try:
        return box.run("6 * 7").value == 42 and parent() not in (None, first)
    except Exception as error:
        print(error, file=sys.stderr)
until(is_there_again)
box.close()
print("good")
"""
    )
    assert (done.stdout, done.returncode) == ("good\n", 0), done.stderr
