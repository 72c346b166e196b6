"""What a worker may do to the host through the socket and the memory that they share.

A guest with the policy off owns its worker. It may forge its own outcome, and nothing more: the
host must answer, in time, in bounded memory, and be right about what it has seen itself.
"""

import json
import re
import resource
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.jail.conftest import (
    BELLJAR,
    PROFILE,
    SLOWNESS,
    belljar,
    in_session,
    left_in_session,
    slowly,
)

# Finds the worker's socket, and the shared capture: a page that begins with what was just printed.
# There is no /proc/self/maps; access(2) tells EFAULT from a page that is there.
TOOLS = """
import ctypes, json, os, socket, stat, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def the_socket():
    for number in range(3, 65536):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                return number
        except OSError:
            pass
CHANNEL = the_socket()
OUTPUT = 16 << 20
SEALED, FAILED, DONE = 0x424a4f4b, 0x424a4641, 0x424a444e
def tell(kind, step=0, value=0):
    os.write(CHANNEL, struct.pack("<III", kind, step, value))
def find_capture():
    mark = b"marker-%d-" % time.monotonic_ns()  # clock: a number that is nowhere else
    sys.stdout.write(mark.decode()); sys.stdout.flush()
    access = libc.access
    access.argtypes = [ctypes.c_void_p, ctypes.c_int]
    page = (ctypes.cast(libc.abs, ctypes.c_void_p).value + (256 << 20)) & ~0xfff
    bottom = page - (2 << 30)
    while page > bottom:
        if access(page, 0) and ctypes.get_errno() == 14:
            # The outputs alone are 32 MiB: half of it cannot jump over them.
            page -= OUTPUT
            continue
        if ctypes.string_at(page, len(mark)) == mark:
            return page - 4096
        page -= 4096
def header(base):
    return (ctypes.c_uint64 * 5).from_address(base)
def write_report(base, report, size=None):
    # The report buffer lies behind both outputs, each of the profile's maximum.
    ctypes.memmove(base + 4096 + 2 * OUTPUT, report, len(report))
    header(base)[4] = len(report) if size is None else size
def report(**changes):
    return json.dumps({"status": "ok", "exit_code": None, "has_result": True, "result": 1,
        "result_repr": "1", "variables": [], "error": None, "findings": [], "analysis": None,
        "truncated": {},
        **changes}).encode()
base = find_capture()
"""

UNREADABLE = ("killed", "the worker's report was invalid")


def run(code, timeout=5):
    ran = belljar(TOOLS + code, "--timeout", slowly(timeout))
    assert ran.outcome, ran.stderr
    return ran


def ended(ran):
    return ran.status, ran.reason


def test_the_tools_find_the_capture(jail):
    """Or the tests below would prove nothing."""
    ran = run("print(base % 4096, header(base)[0], CHANNEL > 2)")
    # The length that it read is that of what it had printed.
    assert re.fullmatch(r"(marker-\d+-)0 (\d+) True\n", ran.stdout)
    assert int(ran.stdout.split()[1]) == ran.stdout.index("-0 ") + 1


def test_a_forged_report_forges_nothing_but_the_answer(jail):
    ran = run("""
write_report(base, report(result="forged", isolation={"layers": []}, usage={}, limits={}))
tell(DONE)
while True: pass
""")
    assert (ran.status, ran.result) == ("ok", "forged")
    assert ran.isolation["mode"] == "strict" and len(ran.layers) >= 5
    assert ran.limits["timeout"] == slowly(5)
    assert 0 < ran.usage["wall_time"] < slowly(5)


def test_python_reports_for_no_program_of_another_language(jail):
    """Only the worker of such a program says by which signal it ended, or that a session's did."""
    ran = run("""
program = {"cpu_microseconds": 10**9, "max_rss_bytes": 1 << 50, "signal": 31}
write_report(base, report(program={**program, "session_ended": True}))
tell(DONE)
while True: pass
""")
    assert (ran.status, ran.result, ran.events) == ("ok", 1, set())
    assert ran.usage["cpu_time"] < slowly(5) and ran.usage["max_rss_bytes"] < 1 << 40
    assert not {"session", "kill_signal"} & ran.outcome.keys()


@pytest.mark.parametrize("status", ["timeout", "cpu_limit", "killed", "error", "", "OK", None, 7])
def test_what_the_host_decides_cannot_be_claimed(status, jail):
    ran = run(f"write_report(base, report(status={status!r})); tell(DONE)\nwhile True: pass")
    assert ended(ran) == UNREADABLE


@pytest.mark.parametrize(
    "report",
    [
        b"",
        b"\0",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b"\xff\xfe",
        b'"' + b"\xc3" * 100,
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 100_000,
        b"1e99999",
    ],
    ids=lambda report: repr(report[:8]),
)
def test_a_report_that_is_none(report, jail):
    # The whole of it, without 100 KB on the command line.
    unit, times = (report[:20], len(report) // 20) if len(report) > 20 else (report, 1)
    ran = run(f"write_report(base, {unit!r} * {times}); tell(DONE)\nwhile True: pass")
    assert ended(ran) == UNREADABLE


@pytest.mark.parametrize(
    "change",
    [
        "error=1",
        "error={}",
        "error={'type': 'E', 'message': 'm', 'line': 'x'}",
        "findings=[1]",
        "findings={}",
        "variables=[[]]",
        "variables={'a': 1}",
        "truncated=[]",
        "truncated={'result': 'yes'}",
        "result_repr=7",
        "has_result='yes'",
        "exit_code='0'",
    ],
)
def test_a_report_of_the_wrong_shape(change, jail):
    ran = run(f"write_report(base, report({change})); tell(DONE)\nwhile True: pass")
    assert ended(ran) == UNREADABLE or ran.status == "ok"
    # Whatever is taken over is still what the documentation says it is.
    assert isinstance(ran.variables, list) and isinstance(ran.findings, list)
    assert isinstance(ran.truncated, dict)


@pytest.mark.parametrize("number", ["1e300", "-1e300", "2**62", "-2**62", "2**64 - 1", "0.5"])
def test_numbers_that_do_not_fit(number, jail):
    ran = run(f"write_report(base, report(exit_code={number})); tell(DONE)\nwhile True: pass")
    assert ended(ran) == UNREADABLE or -(2**31) <= ran.outcome["exit_code"] < 2**31


@pytest.mark.parametrize("value", ["'\\ud800'", "float('nan')", "float('inf')", "10**4000"])
def test_values_that_json_does_not_have(value, jail):
    ran = run(f"write_report(base, report(result={value})); tell(DONE)\nwhile True: pass")
    assert ended(ran) == UNREADABLE or ran.status == "ok"
    json.dumps(ran.outcome, allow_nan=False).encode()  # it is JSON to everyone


def test_a_forged_result_is_held_to_its_limit(jail):
    """The host does not take the worker's word for having kept to max_result."""
    ran = run("write_report(base, report(result='x' * (8 << 20))); tell(DONE)\nwhile True: pass")
    assert ended(ran) == UNREADABLE
    assert len(ran.raw) < 4 << 20


def test_a_report_that_unfolds_in_memory(jail):
    """Millions of empty lists: the host's memory stays within a small multiple of the report."""
    # The worker writes it before its time is up, on a busy machine too.
    ran = run(
        "write_report(base, b'[' + b'[],' * 3_000_000 + b'1]'); tell(DONE)\nwhile True: pass", 20
    )
    assert ended(ran) == UNREADABLE
    fits = run(
        "write_report(base, report(result=[[]] * 250_000)); tell(DONE)\nwhile True: pass", 20
    )
    # A process's peak begins with that of the one that forked it, which is this one.
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    for each in (ran, fits):
        assert each.max_rss < max(256 << 20, ours + (64 << 20))
        assert each.seconds < 20 * SLOWNESS


@pytest.mark.parametrize("size", ["2**64 - 1", "2**63", "9 << 20", "(9 << 20) + 1", "1 << 40"])
def test_lengths_that_lie(size, jail):
    ran = run(f"""
for word in range(5): header(base)[word] = {size}
tell(DONE)
while True: pass
""")
    assert ended(ran) == UNREADABLE
    # One mebibyte of each is what the caller allowed, whatever the length word says.
    assert len(ran.stdout) <= 1 << 20 and len(ran.outcome["stderr"]) <= 1 << 20


def test_a_header_of_ones(jail):
    """Out of memory, denied calls of every number, all lengths: all claimed at once."""
    ran = run("ctypes.memset(base, 0xff, 4096); tell(DONE)\nwhile True: pass")
    assert ran.status in ("killed", "memory_limit")
    assert len(ran.security_events) <= 32
    ran = run("ctypes.memset(base, 0xff, 4096)\nimport os; os._exit(3)")
    assert ran.status in ("killed", "memory_limit")


def test_all_of_the_shared_memory_overwritten(jail):
    ran = run(
        """
ctypes.memset(base, 0x41, 4096 + 2 * OUTPUT + (9 << 20))
import time
time.sleep(1000)  # sleeps: until it is killed
""",
        timeout=3,
    )
    assert ran.status == "timeout"
    assert set(ran.stdout) == {"A"} and len(ran.stdout) == 1 << 20


def test_claiming_to_be_out_of_memory_does_not_hide_a_timeout(jail):
    ran = run("ctypes.memset(base + 40, 1, 4)\nwhile True: pass", timeout=1)
    assert ran.status == "timeout"


@pytest.mark.parametrize(
    "message",
    [
        "b'x'",
        "b'x' * 11",
        "b'x' * 12",
        "b'\\0' * 12",
        "struct.pack('<III', SEALED, 0, 1)",
        "struct.pack('<III', FAILED, 9, 1)",
        "struct.pack('<III', DONE, 0, 0)[:8]",
        "b'x' * 100_000",
    ],
)
def test_rubbish_on_the_socket_ends_the_run(message, jail):
    ran = run(f"os.write(CHANNEL, {message})\nwhile True: pass")
    assert ended(ran) == ("killed", "the worker's channel sent a malformed message")


def test_done_without_a_report(jail):
    assert ended(run("tell(DONE)\nwhile True: pass")) == UNREADABLE


def test_closing_the_socket_ends_the_run(jail):
    ran = run("os.close(CHANNEL)\nwhile True: pass")
    assert ended(ran) == ("killed", "killed by SIGKILL")


def test_an_endless_stream_into_the_socket(jail):
    ran = run("""
while True:
    os.write(CHANNEL, b'x' * 65536)
""")
    assert ran.status == "killed"


def test_descriptors_sent_to_the_host_go_nowhere(jail):
    """SCM_RIGHTS over the one socket: recv(2) of the host takes none of them."""
    ran = run("""
class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint32), ("iov", ctypes.c_void_p),
                ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p),
                ("controllen", ctypes.c_size_t), ("flags", ctypes.c_int)]
data = ctypes.create_string_buffer(b"x" * 12)
iov = (ctypes.c_size_t * 2)(ctypes.addressof(data), 12)
control = ctypes.create_string_buffer(struct.pack("<QiiI", 20, 1, 1, 0), 24)
message = Message(None, 0, ctypes.addressof(iov), 1, ctypes.addressof(control), 24, 0)
print("sending", flush=True)
print(libc.sendmsg(CHANNEL, ctypes.byref(message), 0), flush=True)
while True: pass
""")
    # The host may be quicker than the guest's telling that it was sent.
    assert ran.stdout.endswith(("sending\n", "sending\n12\n"))
    assert ended(ran) == ("killed", "the worker's channel sent a malformed message")


def test_lengths_that_dance_while_the_host_streams(jail):
    """Live output: the host reads while the worker rewrites the length under it."""
    code = (
        TOOLS
        + """
end = time.monotonic() + 1  # clock: so long it dances
sizes = [0, 1, 2**64 - 1, 4096, 1 << 20, 1 << 40]
while time.monotonic() < end:
    for size in sizes:
        header(base)[0] = size
        header(base)[2] = size
os._exit(0)
"""
    )
    done = subprocess.run(
        [BELLJAR, "run", "--policy", "off", "--profile", PROFILE, "--timeout", "5", "-c", code],
        capture_output=True,
        timeout=30 * SLOWNESS,
        check=False,
    )
    assert done.returncode == 4
    assert len(done.stdout) <= 1 << 20


@contextmanager
def a_command_that_runs() -> Iterator[subprocess.Popen]:
    limits = ["--timeout", "30", "--cpu", "30"]
    process = subprocess.Popen(
        [BELLJAR, "run", "--policy", "off", "--profile", PROFILE, *limits, "-c", ENDLESS],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with process:
        assert process.stdout.readline() == b"begun\n"
        assert len(in_session(process.pid)) >= 2  # its worker, which was the zygote
        yield process


ENDLESS = "print('begun', flush=True)\nwhile True: pass"


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
def test_stopping_the_command_stops_the_guest(which, jail):
    with a_command_that_runs() as process:
        process.send_signal(which)
        process.wait(20)  # of the 30 that the guest has
        assert left_in_session(process.pid) == []


def test_killing_the_command_kills_the_guest(jail):
    """SIGKILL: nothing of the host's gets to run any more."""
    with a_command_that_runs() as process:
        process.kill()
        process.wait(20)
        assert left_in_session(process.pid) == []
