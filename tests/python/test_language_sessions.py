"""Sessions in other languages: an interpreter that stays from cell to cell."""

import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import belljar
import pytest

from tests.clocks import until
from tests.languages.conftest import need_language, processes_with

Open = Callable[..., belljar.Session]


@pytest.fixture
def session() -> Iterator[Open]:
    boxes: list[belljar.Sandbox] = []

    def open_session(name: str, **options: object) -> belljar.Session:
        need_language(name)
        box = belljar.Sandbox(language=name)
        boxes.append(box)
        return box.session(**options)  # type: ignore[arg-type]

    yield open_session
    for box in boxes:
        box.close()


# First cell, second cell, what the second prints and its value.
STAYS = {
    "bash": (
        'x=40; f() { echo "f $x"; }; declare -A m=([a]=2); cd /tmp; export E=e',
        "f; echo ${m[a]} $PWD $(printenv E)",
        "f 40\n2 /tmp e\n",
        None,
    ),
    "javascript": (
        "const x = 40; let f = async (y) => x + y; class A {}",
        "const x = await f(2); console.log(new A()); ({x})",
        "A {}\n",
        {"x": 42},
    ),
    "r": (
        "x <- 40; f <- function(y) x + y; library(stats)",
        'cat("sum\\n"); list(sum = f(2), words = c("a", "b"))',
        "sum\n",
        {"sum": 42, "words": ["a", "b"]},
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_a_cell_has_made_stays(name: str, session: Open) -> None:
    first, second, printed, value = STAYS[name]
    opened = session(name)
    one, two = opened.run(first), opened.run(second)
    assert one.ok, one
    assert (two.status, two.stdout, two.value) == ("ok", printed, value), two
    assert two.session is not None and one.session is not None
    assert (one.session.cell, two.session.cell) == (1, 2)
    assert (two.session.restarted, one.session.note) == (False, None)


ERRORS = {
    "bash": ("echo ok\nno_such_command", 127, ("ExitStatus", 2)),
    "javascript": ("let y = 1;\nthrow new TypeError('bad');", 1, ("TypeError", 2)),
    "r": ("y <- 1\nstop('bad')", 1, ("Error", 2)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_names_its_line_and_ends_nothing(name: str, session: Open) -> None:
    source, exit_code, error = ERRORS[name]
    opened = session(name)
    assert opened.run(STAYS[name][0]).ok
    failed = opened.run(source)
    assert failed.status == "exception" and failed.error is not None
    assert (failed.exit_code, (failed.error.type, failed.error.line)) == (exit_code, error)
    assert failed.stderr
    assert failed.session is not None and not failed.session.restarted
    assert opened.run(STAYS[name][1]).stdout == STAYS[name][2]


SYNTAX = {
    "bash": "echo one\nif then",
    "javascript": "let z = 1\nlet a = ;",
    "r": "z <- 1\ny <- (",
}


@pytest.mark.parametrize("name", SYNTAX)
def test_a_syntax_error_is_an_error_of_its_cell(name: str, session: Open) -> None:
    opened = session(name)
    failed = opened.run(SYNTAX[name])
    assert failed.status == "exception" and failed.error is not None
    assert failed.error.line in (2, 3), failed.error
    assert opened.run(STAYS[name][0]).ok


# The name makes a process of Node.js visible from outside once its cell runs.
ENDLESS = {
    "bash": ("while :; do :; done; echo never", "sleep 1000; echo never"),
    "javascript": (
        "process.title = 'MARK'; for (;;);",
        "await new Promise(setImmediate); process.title = 'MARK';"
        " await new Promise((done) => setTimeout(done, 1e6))",
    ),
    "r": ("while (TRUE) {}", "Sys.sleep(1000)"),  # sleeps: until it is interrupted
}


@pytest.mark.parametrize(
    ("name", "source"), [(name, source) for name in ENDLESS for source in ENDLESS[name]]
)
def test_an_interrupted_cell_keeps_the_session(name: str, source: str, session: Open) -> None:
    opened, mark = session(name), uuid.uuid4().hex
    assert opened.run(STAYS[name][0]).ok
    results: list[belljar.Result] = []
    cell = threading.Thread(target=lambda: results.append(opened.run(source.replace("MARK", mark))))
    cell.start()
    if "MARK" in source:
        until(lambda: processes_with(mark), lambda: "the cell does not begin")
    until(opened.interrupt, lambda: "no cell runs")
    cell.join()
    (interrupted,) = results
    assert interrupted.status == "exception" and interrupted.error is not None, interrupted
    assert interrupted.error.type == "Interrupted"
    assert "never" not in interrupted.stdout
    assert opened.run(STAYS[name][1]).stdout == STAYS[name][2]


WRITES = {
    "bash": ("echo kept > kept; x=1", "echo lost > lost; rm kept; while :; do :; done", "cat kept"),
    "javascript": (
        "var fs = require('fs'); fs.writeFileSync('kept', 'kept\\n')",
        "fs.writeFileSync('lost', 'lost'); fs.rmSync('kept'); for (;;);",
        "process.stdout.write(require('fs').readFileSync('kept'))",
    ),
    "r": (
        "writeLines('kept', 'kept')",
        "writeLines('lost', 'lost'); file.remove('kept'); while (TRUE) {}",
        "cat(readLines('kept'), sep = '\\n')",
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_limit_ends_the_interpreter_and_not_the_session(name: str, session: Open) -> None:
    before, endless, after = WRITES[name]
    opened = session(name)
    assert opened.run(before).ok
    stopped = opened.run(endless, timeout=1)
    assert stopped.status == "timeout" and stopped.session is not None, stopped
    assert stopped.session.restarted
    assert stopped.session.note is not None and "variables are gone" in stopped.session.note
    assert sorted(opened.files) == ["kept"]
    again = opened.run(after)
    assert (again.stdout, again.session and again.session.restarted) == ("kept\n", False), again


EXITS = {"bash": "echo x > x; exit 3", "javascript": "process.exit(3)", "r": "quit(status = 3)"}


@pytest.mark.parametrize("name", EXITS)
def test_an_interpreter_that_exits_is_followed_by_another(name: str, session: Open) -> None:
    opened = session(name)
    ended = opened.run(EXITS[name])
    assert (ended.status, ended.exit_code) == ("exception", 3), ended
    assert ended.session is not None and ended.session.restarted
    if name == "bash":
        assert list(opened.files) == ["x"]
    assert opened.run(STAYS[name][0]).ok


def test_memory_is_that_of_the_session(session: Open) -> None:
    opened = session("bash", memory="64m")
    grown = opened.run('x=xxxxxxxx; while :; do x="$x$x"; done')
    assert grown.status in ("exception", "memory_limit") and grown.session is not None
    assert grown.session.restarted
    assert opened.run("echo ${#x}").stdout == "0\n"


READS = {
    "bash": "read -r line; echo $line",
    "javascript": "process.stdout.write(require('fs').readFileSync(0))",
    "r": "cat(readLines(file('stdin'))); cat('\\n')",
}


@pytest.mark.parametrize("name", READS)
def test_each_cell_has_its_own_input(name: str, session: Open) -> None:
    opened = session(name)
    assert opened.run(READS[name], stdin="first\n").stdout == "first\n"
    assert opened.run(READS[name], stdin="2\n").stdout == "2\n"
    assert opened.run(READS[name]).stdout.strip() == ""


def test_files_go_in_and_out(session: Open) -> None:
    opened = session("bash")
    opened.files["in.txt"] = "given"
    made = opened.run("tr a-z A-Z < in.txt > out.txt")
    assert [each.name for each in made.artifacts] == ["out.txt"]
    assert opened.files.read_text("out.txt") == "GIVEN"


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def test_between_cells_nothing_runs(session: Open) -> None:
    opened, mark = session("bash"), uuid.uuid4().hex
    busy = f"bash -c 'echo > $0.$$; while :; do :; done' {mark} &"
    both = f"until started=({mark}.*) && ((${{#started[@]}} == 2)); do :; done"
    assert opened.run(f"{busy} {busy} {both}").ok
    assert [state(pid) for pid in processes_with(mark)] == ["T", "T"]
    assert opened.run("kill -0 %1 %2").ok
    assert [state(pid) for pid in processes_with(mark)] == ["T", "T"]
    ended = opened.run("kill %1 %2; wait; echo $(jobs | wc -l)")
    assert ended.stdout == "0\n", ended


def test_an_answer_in_the_interpreters_name_ends_only_its_own_session(session: Open) -> None:
    opened, other = session("bash"), session("bash")
    forged = opened.run("echo '{\"result\": [[[' >&$belljar_answers; sleep 1000")
    assert forged.status == "exception" and forged.session is not None
    assert forged.session.restarted, forged
    assert other.run("echo here").stdout == "here\n"
    assert opened.run("echo here").stdout == "here\n"


def test_a_value_that_is_too_large_has_only_a_text(session: Open) -> None:
    large = session("javascript").run("'x'.repeat(5_000_000)")
    assert large.ok and large.value is None and "value" in large.truncated, large
    deep = session("javascript").run("let a = []; for (let i = 0; i < 100; i++) a = [a]; a")
    assert deep.ok and deep.value is None and deep.value_repr, deep


def test_values_without_json_have_a_text(session: Open) -> None:
    opened = session("javascript")
    assert opened.run("10n ** 20n").value_repr == "100000000000000000000n"
    assert opened.run("const a = {}; a.a = a; a").value_repr == "<ref *1> { a: [Circular *1] }"
    assert opened.run("undefined").value_repr is None


def test_what_only_python_has_says_so(session: Open) -> None:
    opened = session("bash")
    for call in (opened.checkpoint, opened.undo, lambda: opened.branch(2), opened.variables):
        with pytest.raises(belljar.BelljarError, match=r"in Bash"):
            call()
    with pytest.raises(
        ValueError, match=r"one at a time; sessions are in python, bash, javascript, r$"
    ):
        session("perl")
