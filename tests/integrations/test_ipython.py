"""belljar.ipython in a shell of IPython's."""

import os
import signal
import threading
import time

import pytest
from belljar import Result, Sandbox
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from tests.languages.conftest import need_language
from tests.machine import need


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell.instance()
    shell.run_cell("%load_ext belljar.ipython")
    yield shell
    shell.run_cell("%unload_ext belljar.ipython")


@pytest.fixture
def run(shell):
    def run(cell: str):
        with capture_output() as captured:
            done = shell.run_cell(cell)
        captured.done = done
        captured.shown = [output.data for output in captured.outputs]
        return captured

    return run


def test_output_comes_and_the_value_is_shown(run):
    ran = run("%%belljar\nimport sys\nprint('hello')\nprint('oh', file=sys.stderr)\n6 * 7")
    assert (ran.stdout, ran.stderr) == ("hello\n", "oh\n")
    assert [each["text/plain"] for each in ran.shown] == ["42"]  # and not the output again
    assert ran.done.success


def test_a_cell_without_a_value_shows_nothing(run):
    assert run("%%belljar\nx = 1").shown == []


def test_output_arrives_while_the_cell_runs(shell, monkeypatch):
    arrived = []

    class Stream:
        def write(self, text):
            arrived.append((time.monotonic(), text))  # clock: one after the other

        def flush(self):
            pass

    monkeypatch.setattr("sys.stdout", Stream())
    # sleeps: the first is shown before the second
    shell.run_cell("%%belljar\nimport time\nprint('a')\ntime.sleep(1)\nprint('b')")
    (first, a), (last, b) = arrived
    assert (a, b) == ("a\n", "b\n")
    assert last - first > 0.5


def test_variables_go_in_and_come_out(shell, run):
    shell.user_ns |= {"prices": [1.5, 2.5], "total": None}
    ran = run(
        "%%belljar --input prices --output total -o count\ntotal, count = sum(prices), len(prices)"
    )
    assert ran.stderr == ""
    assert (shell.user_ns["total"], shell.user_ns["count"]) == (4.0, 2)


def test_nothing_comes_out_that_was_not_asked_for(shell, run):
    shell.user_ns |= {"mine": 1, "prices": [1]}
    run("%%belljar -i prices -o total\nmine = 2\nprices.append(2)\ntotal = 3")
    assert (shell.user_ns["mine"], shell.user_ns["prices"]) == (1, [1])
    assert shell.user_ns["total"] == 3


def test_what_cannot_come_out_is_said(shell, run):
    shell.user_ns |= {"f": "mine", "g": "mine"}
    ran = run("%%belljar -o f -o g -o h\ndef f(): pass\nh = 'a' * 2_000_000")
    assert "h is too large or not plain data; yours is as it was" in ran.stderr
    assert "f is too large or not plain data; yours is as it was" in ran.stderr
    assert "g was not left by the cell" in ran.stderr
    assert (shell.user_ns["f"], shell.user_ns["g"]) == ("mine", "mine")


def test_standard_input_and_the_result(shell, run):
    shell.user_ns["lines"] = "Ada\n36\n"
    ran = run("%%belljar --stdin lines --result done\nprint(input(), input())")
    assert ran.stdout == "Ada 36\n"
    assert isinstance(shell.user_ns["done"], Result)
    assert shell.user_ns["done"].stdout == "Ada 36\n"


def test_a_failure_is_shown_and_raised_where_asked_for(run):
    ran = run("%%belljar\nprint(1)\n1 / 0")
    assert ran.stdout == "1\n" and ran.done.success
    (shown,) = ran.shown
    assert 'File "cell.py", line 2' in shown["text/plain"]
    assert "ZeroDivisionError" in shown["text/html"]
    raised = run("%%belljar --raise\n1 / 0").done
    assert type(raised.error_in_exec).__name__ == "GuestFailed"


def test_limits(run):
    ran = run("%%belljar --timeout 200ms --result done\nwhile True: pass")
    assert "time" in ran.shown[0]["text/plain"]
    assert (
        "stopped at 32m of memory"
        in run("%%belljar -m 32m\nx = 'a' * 200_000_000").shown[0]["text/plain"]
    )


def test_an_interrupt_kills_the_cell(run):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    ran = run("%%belljar --timeout 30\nprint('a')\nwhile True: pass")
    timer.join()
    assert isinstance(ran.done.error_in_exec, KeyboardInterrupt)
    assert ran.stdout.startswith("a\n")
    assert run("%%belljar\n1").shown[0]["text/plain"] == "1"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--timeout soon", "timeout"),
        ("--memory 0", "memory"),
        ("--input nothing_of_mine", "you have no variable 'nothing_of_mine'"),
        ("--input a_module", "inputs['a_module'] is a module; only plain data is supported"),
        ("--output 1x", "'1x' is not a valid variable name"),
        ("--profile nonsense", "nonsense"),
        ("--colour red", "unrecognized arguments: --colour red"),
    ],
)
def test_wrong_arguments_are_named(shell, run, line, said):
    shell.user_ns["a_module"] = os
    ran = run(f"%%belljar {line}\nprint('ran')")
    assert not ran.done.success
    assert "UsageError" in ran.stderr and said in ran.stderr, ran.stderr
    assert "Traceback" not in ran.stderr + ran.stdout
    assert "ran\n" not in ran.stdout


def test_figures_are_shown(run):
    with Sandbox("data-science") as box:
        missing = box.info().missing
        need(not missing, f"packages are not installed: {missing and missing[0].command}")
    ran = run(
        "%%belljar --profile data-science\nimport matplotlib.pyplot as p\np.plot([1, 2])\nNone"
    )
    assert '<img src="data:image/png;base64,' in ran.shown[0]["text/html"]


def test_terminals_are_not_obeyed(run):
    ran = run("%%belljar\nprint('\\x1b]0;title\\x07')\n'\\x1b[2J'")
    assert "\x1b" not in ran.stdout + str(ran.shown[0]["text/plain"])
    assert "\\x1b]0;title\\x07" in ran.stdout


def test_html_of_the_program_is_text(run):
    (shown,) = run("%%belljar\nraise ValueError('<script>alert(1)</script>')").shown
    assert "<script>" not in shown["text/html"]
    assert "&lt;script&gt;" in shown["text/html"]


def test_a_cell_cannot_read_the_hosts_files(run, secret):
    attack = f"found = open({str(secret)!r}).read()\nprint(found)"
    assert run(attack).stdout.strip() == secret.read_text()  # so the attack is one
    ran = run(f"%%belljar\n{attack}")
    assert secret.read_text() not in ran.stdout + str(ran.shown)
    assert ran.shown


def test_the_notebooks_own_variables_are_out_of_reach(shell, run):
    shell.user_ns["password"] = "swordfish"
    ran = run("%%belljar\nprint(password)")
    assert "NameError" in ran.shown[0]["text/plain"] and "swordfish" not in ran.stdout


def test_it_unloads(shell, run):
    run("%unload_ext belljar.ipython")
    assert not run("%%belljar\n1").done.success
    run("%load_ext belljar.ipython")
    assert run("%%belljar\n1").shown[0]["text/plain"] == "1"


def test_a_cell_in_another_language(shell, run):
    need_language("bash")
    shell.user_ns["who"] = "Ada"
    ran = run("%%belljar --language bash --input who\necho hello $who; echo oh >&2")
    assert (ran.stdout, ran.stderr) == ("hello Ada\n", "oh\n")
    ran = run("%%belljar -l bash --output x\nx=1")
    assert "--output with --language needs --session" in ran.stderr
    run("%%belljar -s shell -p filesystem\nopen('a', 'w').write('b')")
    ran = run("%%belljar -s shell -l bash -o left\nleft=$(cat a)c")
    assert shell.user_ns["left"] == "bc", ran.stderr
    assert run("%%belljar -s shell -l bash\necho $left").stdout == "bc\n"
    ran = run("%%belljar -s shell -l bash -o absent\n:")
    assert "absent was not left by the cell" in ran.stderr
    run("%%belljar -l python -o there\nthere = 1")
    assert shell.user_ns["there"] == 1


def test_an_unknown_language_is_said(run):
    assert 'did you mean "bash"' in run("%%belljar -l bsh\n:").stderr
