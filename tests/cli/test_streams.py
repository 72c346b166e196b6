"""The program's output is live, and what happens when its reader or its user goes away."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.clients.server import busiest
from tests.clocks import HANG, UNTIL_KILLED, until

# sleeps: the reader acts between the two lines
SLOW = "import time\nprint('first')\ntime.sleep(1.5)\nprint('last')"
ENDLESS = "print('started', flush=True)\nwhile True: pass"
IN_ENDLESS = b"""\
Traceback (most recent call last):
  File "<string>", line 2, in <module>
    while True: pass
belljar: cancelled
"""


def start(program, *arguments, **options) -> subprocess.Popen:
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([program, *arguments], **options)


def ended(process: subprocess.Popen) -> tuple[int, bytes, bytes]:
    out, err = process.communicate(timeout=HANG)
    return process.returncode, out, err


def test_the_first_line_arrives_before_the_program_ends(program):
    process = start(program, "run", "-c", "print('first')\n" + UNTIL_KILLED)
    assert process.stdout.readline() == b"first\n"
    process.send_signal(signal.SIGTERM)
    assert ended(process)[:2] == (143, b"")


def test_standard_error_is_live_too(program):
    code = "import sys\nprint('first', file=sys.stderr)\n" + UNTIL_KILLED
    process = start(program, "run", "-c", code)
    assert process.stderr.readline() == b"first\n"
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] == 143


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(program, number, code):
    process = start(program, "run", "-c", ENDLESS)
    assert process.stdout.readline() == b"started\n"
    process.send_signal(number)
    assert ended(process) == (code, b"", IN_ENDLESS)


def test_interrupted_with_its_whole_group_as_a_terminal_does(program):
    process = start(program, "run", "-c", ENDLESS, start_new_session=True)
    assert process.stdout.readline() == b"started\n"
    os.killpg(process.pid, signal.SIGINT)
    assert ended(process) == (130, b"", IN_ENDLESS)


def test_a_terminal_sends_its_signals_to_nothing_but_the_command(program):
    process = start(program, "run", "-c", ENDLESS, start_new_session=True)
    assert process.stdout.readline() == b"started\n"
    children = [
        child
        for thread in Path(f"/proc/{process.pid}/task").iterdir()
        for child in (thread / "children").read_text().split()
    ]
    assert children
    assert all(os.getpgid(int(child)) != process.pid for child in children)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, b"", IN_ENDLESS)


def test_interrupted_with_json_there_is_still_an_object(program):
    process = start(program, "run", "--json", "-c", ENDLESS)
    # Its output comes at the end: that the sealed worker computes says that the program runs.
    busiest(process.pid)
    process.send_signal(signal.SIGINT)
    code, out, _ = ended(process)
    assert code == 130
    outcome = json.loads(out)
    assert outcome["status"] == "killed"
    assert outcome["stdout"] == "started\n"
    assert outcome["error"]["line"] == 2


def test_an_ignored_interrupt_stays_ignored(program):
    # As a shell starts "belljar run … &" without job control.
    process = start(
        program,
        "run",
        "-c",
        SLOW,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert process.stdout.readline() == b"first\n"
    process.send_signal(signal.SIGINT)
    assert ended(process) == (0, b"last\n", b"")


def test_a_reader_that_goes_away_ends_the_program(program):
    process = start(program, "run", "-c", "while True: print('y' * 100)")
    process.stdout.read(1000)
    process.stdout.close()
    assert process.wait(timeout=HANG) == 128 + signal.SIGPIPE
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_closed_standard_output_is_no_trouble(program):
    command = '"$0" run -c "print(1)" >&-'
    done = subprocess.run(["sh", "-c", command, program], capture_output=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_all_standard_streams_closed(program):
    command = '"$0" run -c "import sys; print(1); sys.exit(1)" <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", command, program], capture_output=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


@pytest.mark.parametrize(
    "arguments", [["run", "-c", "print(1)"], ["run", "--json", "-c", "1"], ["info"]]
)
def test_a_full_disk_is_our_failure(program, arguments):
    with open("/dev/full", "wb") as full:
        process = start(program, *arguments, stdout=full)
        code, _, err = ended(process)
    assert code == 5
    assert err == (b"belljar: error: write to standard output: No space left on device (ENOSPC)\n")


def test_a_reader_that_sleeps_does_not_stop_the_clock(program):
    process = start(program, "run", "--timeout", "1", "-c", "while True: print('y' * 1000)")
    time.sleep(3)  # sleeps: the pipe is full long before
    code, out, err = ended(process)
    assert code == 4
    assert len(out) == 1 << 20
    lines = err.decode().splitlines()
    assert lines[-2].startswith("belljar: stopped after 1s of wall time")
    assert lines[-1].startswith("belljar: ")
    assert lines[-1].endswith(" bytes of stdout were discarded (limit 1m, --max-output)")


def test_a_reader_that_sleeps_does_not_outlast_an_interrupt(program):
    process = start(program, "run", "-c", "for _ in range(500): print('y' * 1000)")
    time.sleep(1)  # sleeps: the pipe is full by then, or will be
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=HANG) == 130
    process.stdout.close()
    process.stderr.close()


def test_standard_output_that_does_not_block(program):
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    process = start(program, "run", "-c", "print('y' * 500000)", stdout=theirs)
    os.close(theirs)
    time.sleep(0.5)  # sleeps: the pipe is full by then, or will be
    with open(ours, "rb") as reader:
        assert len(reader.read()) == 500001
    assert ended(process)[0] == 0


def test_nothing_is_left_running(program):
    process = start(program, "run", "-c", ENDLESS, start_new_session=True)
    assert process.stdout.readline() == b"started\n"
    process.kill()
    process.wait()
    until(lambda: not members(process.pid), lambda: members(process.pid))
    process.stdout.close()
    process.stderr.close()


def members(session: int) -> list[int]:
    """Live processes of a session."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[3]) == session:
            found.append(int(name))
    return found
