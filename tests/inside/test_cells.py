"""execute_cell(): cells that share a namespace."""

import builtins
import linecache
import signal
import sys
import threading

import pytest

POLICIES = pytest.mark.parametrize("policy", ["off", "on"])


@pytest.fixture
def cell(run, monkeypatch):
    """cell(source) -> its report, in one session for each test."""
    import belljar_runner

    execute = sys.modules["belljar_runner.execute"]
    interrupts = sys.modules["belljar_runner.interrupts"]
    handler = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(execute, "_session", execute._Session())
    monkeypatch.setattr(interrupts, "_state", interrupts._State())
    monkeypatch.setattr(belljar_runner, "execute", belljar_runner.execute_cell)
    belljar_runner.begin_session()
    count = iter(range(1, 1000))

    def run_cell(source, policy="off", **request):
        filename = f"In[{next(count)}]"
        report = run(source, policy, filename=filename, **request)
        lines = source.splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)  # run() took it away
        return report

    yield run_cell
    signal.signal(signal.SIGINT, handler)
    for filename in [name for name in linecache.cache if name.startswith("In[")]:
        del linecache.cache[filename]


@POLICIES
def test_variables_stay(cell, policy):
    assert cell("x = 1", policy)["variables"] == ["x"]
    report = cell("x += 1\ny = x\nx", policy)
    assert report["result"] == 2
    assert report["variables"] == ["x", "y"]


@POLICIES
def test_the_last_value_is_underscore(cell, policy):
    cell("6 * 7", policy)
    assert cell("_ + 1", policy)["result"] == 43
    cell("None", policy)
    assert cell("_", policy)["result"] == 43
    assert cell("_ is not None", policy)["result"] is True


@POLICIES
def test_only_an_expression_is_a_result(cell, policy):
    assert not cell("result = 5", policy)["has_result"]
    assert not cell("x = 1", policy)["has_result"]
    assert cell("result", policy)["result"] == 5


@POLICIES
def test_an_exception_costs_nothing_else(cell, policy):
    cell("x = [1]", policy)
    report = cell("x.append(2)\n1 / 0", policy)
    assert report["status"] == "exception"
    assert 'File "In[2]", line 2' in report["error"]["traceback"]
    assert cell("x", policy)["result"] == [1, 2]


def test_tracebacks_have_the_other_cells(cell):
    cell("def f():\n    return 1 / 0")
    report = cell("f()")
    text = report["error"]["traceback"]
    assert 'File "In[2]", line 1, in <module>' in text
    assert 'File "In[1]", line 2, in f' in text
    assert "return 1 / 0" in text, "the line of the other cell"


def test_a_refused_cell_changes_nothing(cell):
    cell("x = 1", "on")
    assert cell("x = 2\nimport os", "on")["status"] == "refused"
    assert cell("x", "on")["result"] == 1


def test_exit_ends_the_cell_alone(cell):
    cell("x = 1")
    assert cell("raise SystemExit(3)")["exit_code"] == 3
    assert cell("x")["result"] == 1


def test_inputs_are_variables_of_the_session(cell):
    assert cell("n + 1", inputs={"n": 4})["result"] == 5
    report = cell("m = n")
    assert report["variables"] == ["m"]


def test_finalizers_of_a_failure_run_in_the_next_cell(cell):
    cell("class A:\n    def __del__(self): done.append(1)\ndone = []")
    cell("def f():\n    a = A()\n    1 / 0\nf()")
    assert cell("done")["result"] == [1]


def test_top_level_await(cell):
    cell("import asyncio\nasync def f(): return 3")
    assert cell("x = await f()\nx")["result"] == 3
    assert cell("await f() + x")["result"] == 6


def test_tracebacks_have_the_other_cells_when_linecache_was_emptied(cell):
    cell("def f():\n    return 1 / 0")
    cell("import linecache\nlinecache.clearcache()")
    assert "return 1 / 0" in cell("f()")["error"]["traceback"]


def test_sources_are_bounded(monkeypatch):
    sources = sys.modules["belljar_runner.sources"]
    monkeypatch.setattr(linecache, "cache", {})
    monkeypatch.setattr(sources, "MAX_SOURCES", 3)
    monkeypatch.setattr(sources, "MAX_BYTES", 100)
    kept = sources.Sources()
    for number in range(5):
        kept.remember(f"In[{number}]", f"x = {number}")
    kept.restore()
    assert list(linecache.cache) == ["In[2]", "In[3]", "In[4]"]
    kept.remember("In[2]", "y")  # again: the newest now
    kept.remember("In[5]", "#" * 99)
    assert list(kept._kept) == ["In[2]", "In[5]"]
    kept.remember("In[6]", "#" * 1000)
    assert list(kept._kept) == ["In[6]"], "the last one is always there"
    linecache.cache.clear()
    kept.restore()
    assert linecache.getline("In[6]", 1) == "#" * 1000 + "\n"


HIDING = [
    "1 + 1;",
    "1 + 1 ;  # so",
    "(1 +\n1\n) ; ",
    "'a;b';",
    "x = 1; x;",
    "1;\n# more\n",
    "'ü';'ü';",
]
SHOWING = ["1; 2", "';'", "3  # a;", "(4  # ;\n)", "f'{5};'", '"""a\n;"""']


@POLICIES
@pytest.mark.parametrize("source", HIDING)
def test_a_semicolon_hides_the_value(cell, policy, source):
    cell("7", policy)
    report = cell(source, policy)
    assert report["status"] == "ok"
    assert not report["has_result"] and report["result_repr"] is None
    assert cell("_", policy)["result"] == 7


@POLICIES
@pytest.mark.parametrize("source", SHOWING)
def test_other_semicolons_hide_nothing(cell, policy, source):
    assert cell(source, policy)["has_result"]


def test_a_run_has_its_value_all_the_same(run):
    assert run("1 + 1;")["result"] == 2


@POLICIES
def test_after_a_memory_limit_the_policy_is_the_same(cell, policy):
    cell("x = 1", policy)
    assert cell("raise MemoryError", policy)["status"] == "memory_limit"
    assert cell("x", policy)["error"]["type"] == "NameError"
    assert cell("__name__", policy)["result"] == "__main__"
    if policy == "on":  # the stand-in for the policy withholds it
        assert cell("open", policy)["error"]["type"] == "NameError"


# --- interrupts -----------------------------------------------------------------------------------


@pytest.fixture
def interrupt_soon():
    """interrupt_soon(): a SIGINT for this process's main thread, in a moment."""
    timers = []

    def interrupt():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def start():
        timers.append(threading.Timer(0.05, interrupt))
        timers[-1].start()

    yield start
    for timer in timers:
        timer.join()


# sleeps: until it is interrupted
@POLICIES
@pytest.mark.parametrize("source", ["while True: pass", "import time\ntime.sleep(1000)"])
def test_an_interrupt_ends_the_cell(cell, policy, source, interrupt_soon):
    cell("x = 1", policy)
    interrupt_soon()
    report = cell(source, policy)
    assert report["status"] == "exception"
    assert report["error"]["type"] == "KeyboardInterrupt"
    assert report["error"]["line"] == source.count("\n") + 1
    assert "KeyboardInterrupt" in report["error"]["traceback"]
    assert cell("x", policy)["result"] == 1


def test_the_guest_may_catch_it(cell, interrupt_soon):
    interrupt_soon()
    # sleeps: until it is interrupted
    source = "import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    x = 3\nx"
    assert cell(source)["result"] == 3


def test_a_late_interrupt_hits_nothing(cell):
    cell("x = 1")
    signal.raise_signal(signal.SIGINT)
    assert cell("x")["result"] == 1
    # While the report is made.
    source = """
import signal
class A:
    def __repr__(self):
        signal.raise_signal(signal.SIGINT)
        return "A"
A()
"""
    report = cell(source)
    assert report["status"] == "ok" and report["result_repr"] == "A"
    assert cell("x")["result"] == 1


def test_await_is_interrupted(cell, interrupt_soon):
    interrupt_soon()
    report = cell("import asyncio\nawait asyncio.sleep(1000)")  # sleeps: until it is interrupted
    assert report["error"]["type"] == "KeyboardInterrupt"
    assert cell("await asyncio.sleep(0, 4)")["result"] == 4


def test_the_guests_own_handler_is_for_its_cells_alone(cell):
    cell("import signal\nseen = []\ndef handle(*_):\n    seen.append(1)\n    raise ValueError")
    cell("before = signal.signal(signal.SIGINT, handle)")
    signal.raise_signal(signal.SIGINT)
    assert cell("seen")["result"] == []
    assert cell("signal.raise_signal(signal.SIGINT)")["error"]["type"] == "ValueError"
    assert cell("seen")["result"] == [1]
    assert cell("signal.getsignal(signal.SIGINT) is handle")["result"] is True


@pytest.mark.parametrize("handler", ["SIG_IGN", "SIG_DFL"])
def test_a_handler_that_is_none(cell, handler):
    cell(f"import signal\nbefore = signal.signal(signal.SIGINT, signal.{handler})")
    signal.raise_signal(signal.SIGINT)
    assert cell(f"signal.getsignal(signal.SIGINT) is signal.{handler}")["result"] is True


def test_code_of_the_policys_is_not_interrupted(cell, stand_in, monkeypatch):
    """It ends first, and the exception comes in the program's next line."""
    done = []
    code = {"__name__": "belljar_policy.modules", "signal": signal, "done": done}
    exec("def load():\n    signal.raise_signal(signal.SIGINT)\n    done.append(1)\n", code)
    names = {**vars(builtins), "load": code["load"]}
    monkeypatch.setattr(
        stand_in, "guest_globals", lambda name="": {"__name__": name, "__builtins__": names}
    )
    report = cell("load()\nx = 1\ny = 2", "on")
    assert done == [1]
    assert report["error"]["type"] == "KeyboardInterrupt" and report["error"]["line"] == 2
    report = cell("def f():\n    while True: load()\nf()", "on")
    assert report["error"]["type"] == "KeyboardInterrupt" and len(done) == 2
    assert cell("x = 5\nx", "on")["result"] == 5
    assert sys.gettrace() is None
    cell("load()", "on")  # there may be no later line
    assert cell("x", "on")["result"] == 5
    assert sys.gettrace() is None
