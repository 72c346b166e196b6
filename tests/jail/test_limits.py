"""A limit is a kill: none is caught, ignored or outlived; what was printed before is kept."""

import platform
import re
import signal
import sys

import pytest

from tests.clocks import within
from tests.jail.conftest import LONGEST, SLOWNESS, belljar, slowly

# What the host may take on top of a limit where it has to wait for a core itself; of CPU time, less
# than the second that RLIMIT_CPU counts in; and what starting and ending the command takes.
GRACE = 5
CPU_GRACE = 0.4 * SLOWNESS
COMMAND = 10


def run(code, *options):
    if "--timeout" not in options:  # what is to be reached is another limit
        options += ("--timeout", LONGEST)
    ran = belljar("print('before', flush=True)\n" + code, *options)
    assert ran.outcome, ran.stderr
    assert ran.stdout.startswith("before\n")
    return ran


def assert_timeout(ran, seconds):
    assert (ran.status, ran.exit_code) == ("timeout", 4)
    assert ran.error["type"] == "Timeout"
    assert seconds <= ran.usage["wall_time"] <= seconds + within(GRACE)
    assert ran.seconds <= seconds + within(COMMAND)


def assert_cpu_limit(ran, seconds):
    assert (ran.status, ran.exit_code) == ("cpu_limit", 4)
    assert ran.error["type"] == "CpuLimit"
    assert seconds <= ran.usage["cpu_time"] <= seconds + CPU_GRACE
    assert ran.seconds <= ran.usage["wall_time"] + within(COMMAND)


def assert_memory_limit(ran):
    assert (ran.status, ran.exit_code) == ("memory_limit", 4)
    assert ran.error["type"] == "MemoryLimit"
    # The limit is of address space on top of the waiting worker's: what is resident is less.
    assert ran.usage["max_rss_bytes"] < ran.limits["memory_bytes"] + (64 << 20)


# --- time -----------------------------------------------------------------------------------------

ENDLESS = {
    "loop": "while True: pass",
    "loop that swallows everything": """
while True:
    try:
        while True: pass
    except BaseException:
        pass
""",
    "loop with all signals ignored and blocked": """
import signal
for number in range(1, 31):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True: pass
""",
    "power": "10**10**8",
    "power of two, then its digits": "import sys; sys.set_int_max_str_digits(0); str(1 << 10**7)",
    "catastrophic pattern": "import re; re.match(r'(a+)+$', 'a' * 64 + 'b')",
    "quadratic in C": "sum(([0] * 9 for i in range(10**6)), [])",
    "sleep": "import time; time.sleep(1000)",  # sleeps: until it is killed
    "sleep in the kernel": "import select; select.select([], [], [])",
    "finally that does not end": """
try:
    raise ValueError
finally:
    while True: pass
""",
    "__repr__ that never returns": """
class Endless:
    def __repr__(self):
        while True: pass
result = Endless()
""",
    "__del__ that never returns": """
class Endless:
    def __del__(self):
        while True: pass
Endless()
None
""",
    "atexit": """
import atexit
def never():
    while True: pass
atexit.register(never)
never()
""",
    "exception whose text never comes": """
class Endless(Exception):
    def __str__(self):
        while True: pass
raise Endless
""",
    "trace function": """
import sys
def trace(*_):
    while True: pass
sys.settrace(trace)
def f(): pass
f()
""",
}


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS)
def test_wall_clock(code, jail):
    seconds = slowly(0.5)
    assert_timeout(run(code, "--timeout", seconds, "--cpu", slowly(10)), seconds)


@pytest.mark.parametrize(
    "name", ["loop", "loop that swallows everything", "power", "catastrophic pattern"]
)
def test_cpu_time(name, jail):
    seconds = slowly(0.5)
    assert_cpu_limit(run(ENDLESS[name], "--timeout", LONGEST, "--cpu", seconds), seconds)


def test_sleep_is_no_cpu_time(jail):
    asleep, most = slowly(0.6), slowly(0.2)
    # sleeps: longer than it may compute
    ran = run(f"import time; time.sleep({asleep})", "--timeout", slowly(5), "--cpu", most)
    assert (ran.status, ran.exit_code) == ("ok", 0)
    assert ran.usage["cpu_time"] < most < asleep <= ran.usage["wall_time"]


def test_cpu_time_counts_through_sleeps(jail):
    code = """
import time
while True:
    end = time.process_time() + 0.05
    while time.process_time() < end: pass
    time.sleep(0.05)  # sleeps: in between
"""
    seconds = slowly(0.3)
    ran = run(code, "--timeout", LONGEST, "--cpu", seconds)
    assert_cpu_limit(ran, seconds)
    assert ran.usage["wall_time"] > slowly(0.5)


def test_system_time_counts(jail):
    seconds = slowly(0.3)
    code = "import os\nwhile True: os.stat('/usr')"
    assert_cpu_limit(run(code, "--timeout", LONGEST, "--cpu", seconds), seconds)


# --- where it was ---------------------------------------------------------------------------------


def places_of(ran):
    """Of a stopped run: (line, function) of each place, and the last line of its traceback."""
    *lines, last = (ran.error["traceback"] or "").splitlines() or [""]
    found = re.findall(r'^  File "<string>", line (\d+), in (.+)$', "\n".join(lines), re.MULTILINE)
    return [(int(line), function) for line, function in found], last


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("loop", 2),
        ("loop that swallows everything", 5),
        ("power", 2),
        ("catastrophic pattern", 2),
        ("sleep", 2),
        ("sleep in the kernel", 2),
        ("finally that does not end", 6),
        ("trace function", 5),
    ],
)
@pytest.mark.parametrize("limit", ["--timeout", "--cpu"])
def test_a_stopped_program_names_its_line(name, line, limit, jail):
    if limit == "--cpu" and name.startswith("sleep"):
        limit = "--timeout"
    ran = run(ENDLESS[name], limit, slowly(0.5))
    assert ran.error["line"] == line
    places, last = places_of(ran)
    assert places[-1][0] == line
    assert last == f"{ran.error['type']}: {ran.error['message']}"
    source = ("print('before', flush=True)\n" + ENDLESS[name]).split("\n")[line - 1]
    assert f"    {source.strip()}\n" in ran.error["traceback"]


def test_a_stopped_program_names_its_innermost_five_calls(jail):
    code = """
def f(depth):
    if depth:
        f(depth - 1)
    while True: pass
f(50)
"""
    ran = run(code, "--timeout", slowly(0.5))
    assert places_of(ran)[0] == [(5, "f")] * 4 + [(6, "f")]
    assert "  [... frames left out ...]\n" in ran.error["traceback"]
    ran = run(code.replace("50", "3"), "--timeout", slowly(0.5))
    assert places_of(ran)[0] == [(7, "<module>"), *[(5, "f")] * 3, (6, "f")]
    assert "left out" not in ran.error["traceback"]


def test_a_line_of_the_library_is_the_programs_that_called_it(jail):
    code = """
import collections, json
collections.deque(map(json.loads, iter(lambda: '[1]', 0)), maxlen=0)
"""
    ran = run(code, "--timeout", slowly(0.5))
    assert ran.error["line"] == 4
    assert places_of(ran)[0][0] == (4, "<module>")


def test_who_does_not_say_where_it_is_ends_nevertheless(jail):
    seconds = slowly(0.5)
    ran = run(ENDLESS["loop with all signals ignored and blocked"], "--timeout", seconds)
    assert_timeout(ran, seconds)
    assert (ran.error["line"], ran.error["traceback"]) == (None, None)


def test_the_handler_cannot_be_replaced(jail):
    code = """
import signal
number = signal.SIGRTMAX
try:
    signal.signal(number, signal.SIG_IGN)
except PermissionError:
    print("refused", flush=True)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # others can
while True: pass
"""
    ran = run(code, "--timeout", slowly(0.5))
    assert ran.stdout == "before\nrefused\n"
    assert ran.error["line"] == 10


@pytest.mark.parametrize("option", [("--timeout", "31"), ("--cpu", "31"), ("--memory", "2g")])
def test_over_the_profiles_maximum(option, jail):
    ran = belljar("print(1)", *option)
    assert ran.exit_code == 2
    assert "maximum of profile attack" in ran.stderr


# --- memory ---------------------------------------------------------------------------------------

HUNGRY = {
    "one string": "'a' * 10**10",
    "one string of a size just above": "'a' * (129 << 20)",
    "by small steps": "kept = []\nwhile True: kept.append(object())",
    "by larger steps": "kept = []\nwhile True: kept.append(bytearray(1 << 20))",
    "doubling": "kept = b'x'\nwhile True: kept += kept",
    "a dict": "kept = {}\nwhile True: kept[len(kept)] = str(len(kept))",
    "a range made a list": "list(range(10**10))",
    "an endless generator": "import itertools; list(itertools.count())",
    "an integer": "1 << 10**10",
    "in C": "import decimal; decimal.getcontext().prec = 10**9; decimal.Decimal(1) / 3",
    "a str method": "('a' * 10**6).replace('a', 'b' * 10**5)",
    "a catch-all": """
kept = []
while True:
    try:
        kept.append(bytearray(1 << 20))
    except BaseException:
        pass
""",
    "a catch-all of small steps": """
kept = []
while True:
    try:
        while True: kept.append([])
    except BaseException:
        pass
""",
    "exceptions that hold each other": """
last = None
while True:
    try:
        raise ValueError("x" * 1000) from last
    except ValueError as error:
        last = error
""",
}


@pytest.mark.parametrize("code", HUNGRY.values(), ids=HUNGRY)
def test_memory(code, jail):
    ran = run(code, "--timeout", slowly(20))
    assert_memory_limit(ran)
    assert "128" in ran.reason


def test_memory_as_asked_for(jail):
    """Less than the ceiling that the zygote's own seal has."""
    code = "kept = bytearray(48 << 20); kept[::4096] = b'x' * len(kept[::4096])"
    assert run(code, "--memory", "64m").status == "ok"
    assert_memory_limit(run(code, "--memory", "32m"))
    assert (
        run("kept = bytearray(700 << 20)", "--memory", "1g", "--timeout", slowly(20)).status == "ok"
    )


def test_memory_that_is_let_go_is_free_again(jail):
    assert run("for i in range(5): bytearray(90 << 20)", "--timeout", slowly(20)).status == "ok"


# --- the stack ------------------------------------------------------------------------------------


def test_deep_recursion_in_python(jail):
    ran = run("def f(): return f()\nf()")
    assert (ran.status, ran.exit_code) == ("exception", 1)
    assert ran.error["type"] == "RecursionError"


def test_deep_recursion_without_a_limit(jail):
    """Python's frames lie on the heap: memory ends it. C's on the stack: a signal does."""
    ran = run("import sys; sys.setrecursionlimit(10**9)\ndef f(): return f()\nf()")
    assert ran.status in ("memory_limit", "killed"), ran.outcome
    assert ran.exit_code == 4


# C code that calls itself, and asks Python how deep it is, or does not.
COUNTED = """
import sys; sys.setrecursionlimit(10**9)
class C:
    def __repr__(self): return repr(self)
repr(C())
"""
NOT_COUNTED = """
values = iter([])
for i in range(3 * 10**6): values = map(str, values)
next(values, None)
"""


@pytest.mark.parametrize("code", [COUNTED, NOT_COUNTED], ids=["counted", "not counted"])
def test_deep_recursion_in_c(code, jail):
    if code is NOT_COUNTED and SLOWNESS > 1:
        pytest.skip("a chain this long takes more time here than the profile gives")
    ran = run(code, "--memory", "1g", "--timeout", "30")
    if code is COUNTED and sys.version_info >= (3, 12):  # C code has a limit of its own there
        assert (ran.status, ran.error["type"]) == ("exception", "RecursionError")
        return
    assert (ran.status, ran.reason) == ("killed", "killed by SIGSEGV")
    assert "recursion" in ran.error["hint"]


# --- output ---------------------------------------------------------------------------------------


def test_endless_print(jail):
    seconds = slowly(0.5)
    ran = run("while True: print('x' * 1000)", "--timeout", seconds)
    assert_timeout(ran, seconds)
    assert len(ran.stdout) == 1 << 20
    assert ran.truncated["stdout"] > 0


def test_both_streams_are_counted_exactly(jail):
    ran = belljar(
        "import sys\nsys.stdout.write('o' * 5000); sys.stderr.write('e' * 7000)",
        "--max-output",
        "1k",
    )
    assert (ran.outcome["stdout"], ran.outcome["stderr"]) == ("o" * 1024, "e" * 1024)
    assert ran.truncated == {"stdout": 5000 - 1024, "stderr": 7000 - 1024}
    assert ran.status == "ok"


def test_one_byte_over(jail):
    exact = belljar("import sys; sys.stdout.write('x' * 1024)", "--max-output", "1k")
    over = belljar("import sys; sys.stdout.write('x' * 1025)", "--max-output", "1k")
    assert (len(exact.stdout), exact.truncated) == (1024, {})
    assert (len(over.stdout), over.truncated) == (1024, {"stdout": 1})


def test_output_right_before_a_kill_is_kept(jail):
    ran = run("import os\nfor i in range(1000): print(i)\nos._exit(7)")
    assert ran.stdout.endswith("\n998\n999\n")


def test_a_result_of_100_megabytes(jail):
    ran = run("result = 'x' * (100 << 20)", "--memory", "1g")
    assert ran.status == "ok"
    assert ran.truncated["result"] is True
    assert ran.result is None
    assert 0 < len(ran.result_repr) < 1 << 20
    assert len(ran.raw) < 4 << 20


def test_a_result_of_many_parts(jail):
    ran = run("result = list(range(10**6))")
    assert ran.status == "ok"
    assert ran.truncated["result"] is True
    assert len(ran.raw) < 4 << 20


# --- files and ends -------------------------------------------------------------------------------


def test_many_files(jail):
    ran = run("import this as t\nfiles = [open(t.__file__) for i in range(100)]")
    assert (ran.status, ran.error["type"]) == ("exception", "OSError")
    assert "Too many open files" in ran.reason


@pytest.mark.parametrize("code", [0, 1, 3, 87, 88, 137, 139, 255])
def test_os_exit(code, jail):
    """No code of its own says anything but that it ended itself."""
    ran = run(f"import os; os._exit({code})")
    assert (ran.status, ran.exit_code) == ("killed", 4)
    assert ran.reason == f"the process exited with code {code}"


def test_system_exit(jail):
    ran = run("import sys; sys.exit(0)")
    assert (ran.status, ran.outcome["exit_code"], ran.exit_code) == ("ok", 0, 0)
    ran = run("import sys; sys.exit(3)")
    assert (ran.status, ran.outcome["exit_code"], ran.exit_code) == ("exception", 3, 1)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV"),
        ("import ctypes; ctypes.memset(ctypes.CDLL(None).abs, 0, 9)", "killed by SIGSEGV"),
        ("import ctypes; ctypes.CFUNCTYPE(None)(1)()", "killed by SIGSEGV"),
    ],
)
def test_faults(code, reason, jail):
    ran = run(code)
    assert (ran.status, ran.reason, ran.exit_code) == ("killed", reason, 4)


def test_abort(jail):
    """libc aborts by a signal to itself; that is refused, and it takes its last resort."""
    ran = run("import os; os.abort()")
    # The signal of an instruction that nobody may execute.
    last_resort = {"x86_64": "SIGSEGV", "aarch64": "SIGTRAP"}[platform.machine()]
    assert (ran.status, ran.reason, ran.exit_code) == ("killed", f"killed by {last_resort}", 4)
    assert ran.events == {("denied", "tgkill")}


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSTOP", "SIGTERM", "SIGSYS"])
def test_signals_to_itself(name, jail):
    """Refused like any other kill: a worker that stopped itself would sleep, not end."""
    ran = run(f"import os, signal; os.kill(os.getpid(), signal.{name})")
    assert (ran.status, ran.error["type"]) == ("exception", "PermissionError")
    assert ran.events == {("denied", "kill")}


def test_writes_that_come_too_late_or_too_far_are_exceptions(jail):
    """As in CPython, which ignores both signals."""
    ran = run("import signal\nprint(*map(signal.getsignal, (signal.SIGPIPE, signal.SIGXFSZ)))")
    assert ran.stdout == f"before\n{signal.SIG_IGN.value} {signal.SIG_IGN.value}\n"


def test_a_write_beyond_the_limit_of_files_is_an_exception(jail, host):
    """Also where the kernel does not spare the worker, as the first process of a PID namespace."""
    code = f"""
import os
file = os.open({host.facts["spoil"]!r}, os.O_WRONLY)
try:
    os.write(file, b"x")
except OSError as error:
    print(error.strerror)
"""
    ran = run(code, "--without", "namespaces,landlock")
    assert (ran.status, ran.stdout) == ("ok", "before\nFile too large\n")
