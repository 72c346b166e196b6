"""R: what it draws, its tables and its last expression; with an interpreter that was started ahead,
and without one."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import belljar
import pytest

from tests.languages.conftest import need_language
from tests.machine import BELLJAR

ROOT = Path(__file__).parents[2]
PNG = b"\x89PNG\r\n\x1a\n"

Cell = Callable[..., belljar.Result]


@pytest.fixture(params=["ahead", "environment", "session"])
def cell(request: pytest.FixtureRequest) -> Iterator[Cell]:
    """A program with a spare, one whose environment asks for an R of its own, and a cell."""
    need_language("r")
    with belljar.Sandbox(language="r") as box:
        if request.param == "session":
            with box.session() as session:
                yield session.run
        elif request.param == "environment":
            yield lambda source, **more: box.run(source, env={"OWN": "1"}, **more)
        else:
            yield box.run


VALUES = [
    ("1 + 1", 2),
    ("c(1.5, NA, Inf)", [1.5, None, None]),
    ("c(a = 1L, b = 2L)", {"a": 1, "b": 2}),
    ("list(1, 'é\"\\\\\\n\\t', NULL, list(x = TRUE))", [1, 'é"\\\n\t', None, {"x": True}]),
    ("matrix(1:4, 2)", [[1, 3], [2, 4]]),
    ("factor(c('u', 'v'))", ["u", "v"]),
    ("as.Date('2024-02-29')", "2024-02-29"),
    ("list()", []),
    ("0.1 + 0.2", 0.3),
]


@pytest.mark.parametrize(("source", "value"), VALUES)
def test_the_last_expression_is_the_result(source: str, value: Any, cell: Cell) -> None:
    result = cell(source)
    assert (result.ok, result.value) == (True, value), result
    assert result.value_repr, result


def test_what_is_invisible_is_no_result(cell: Cell) -> None:
    result = cell("x <- 5; invisible(x)")
    assert (result.ok, result.value, result.value_repr) == (True, None, None), result


def test_what_is_not_plain_data_has_its_text(cell: Cell) -> None:
    result = cell(
        "print.mine <- function(x, ...) cat('<mine>\\n'); structure(quote(a + b), class = 'mine')"
    )
    assert (result.ok, result.value, result.value_repr) == (True, None, "<mine>"), result


def test_a_value_that_is_too_large_has_none(cell: Cell) -> None:
    result = cell("rep('x', 3e6)")
    assert result.ok and result.value is None and "value" in result.truncated, result.status


def test_a_program_that_renames_our_tools_has_its_value(cell: Cell) -> None:
    result = cell("paste0 <- cat <- c <- json <- describe <- function(...) stop('mine'); 5")
    assert (result.ok, result.value) == (True, 5), result


def test_figures(cell: Cell) -> None:
    result = cell(
        "plot(1:3); dev.new(width = 3, height = 2); plot(3:1)\n"
        "library(grid); grid.newpage(); grid.rect()"
    )
    assert result.ok, result
    assert [(each.name, each.media_type) for each in result.artifacts] == [
        (f"figure-{i}.png", "image/png") for i in (1, 2, 3)
    ]
    sizes = []
    for each in result.artifacts:
        assert each.content is not None and each.content.startswith(PNG)
        sizes.append(
            (int.from_bytes(each.content[16:20], "big"), int.from_bytes(each.content[20:24], "big"))
        )
    assert sizes == [(700, 700), (300, 200), (300, 200)]


def test_figures_of_a_program_that_fails(cell: Cell) -> None:
    result = cell("plot(1)\nstop('later')")
    assert result.status == "exception" and result.error is not None and result.error.line == 2
    assert [each.name for each in result.artifacts] == ["figure-1.png"], result
    assert [each.name for each in cell("plot(1); quit(status = 3)").artifacts] == ["figure-1.png"]


def test_more_figures_than_are_kept_are_counted(cell: Cell) -> None:
    result = cell("for (i in 1:25) plot(i)")
    assert result.ok and "artifacts" in result.truncated, result.truncated
    assert [each.name for each in result.artifacts] == [f"figure-{i}.png" for i in range(1, 21)]


def test_devices_of_its_own_write_files(cell: Cell) -> None:
    result = cell(
        "pdf('a.pdf'); plot(1); invisible(dev.off()); svg('b.svg'); plot(2); invisible(dev.off())"
    )
    files = {each.name: each.media_type for each in result.artifacts}
    assert files == {"a.pdf": "application/pdf", "b.svg": "image/svg+xml"}, result


def test_a_data_frame_is_a_table(cell: Cell) -> None:
    result = cell("data.frame(n = 1:2, word = c('a,\"b', NA), day = as.Date('2024-02-29'))")
    assert result.value == {"n": [1, 2], "word": ['a,"b', None], "day": ["2024-02-29"] * 2}, result
    (table,) = result.artifacts
    assert (table.name, table.media_type) == ("result.csv", "text/csv")
    assert table.note == "2 rows x 3 columns: n integer, word character, day Date"
    assert table.content == b'"n","word","day"\n1,"a,""b",2024-02-29\n2,,2024-02-29\n'


def test_a_table_has_a_bound(cell: Cell) -> None:
    result = cell("data.frame(a = seq_len(3e5), b = 'x')")
    assert result.ok and result.value is None, result.status
    (table,) = result.artifacts
    assert table.note is not None and table.note.startswith(
        "the first 50000 rows and 2 columns of 300000 rows"
    )
    assert table.content is not None and table.content.count(b"\n") == 50_001


HOSTILE = """
shown <- '/tmp/.shown'
dir.create(shown, showWarnings = FALSE)
cat('no picture', file = file.path(shown, '1.png'))
file.symlink('/proc/self/environ', file.path(shown, '2.svg'))
cat('<svg/>', file = file.path(shown, '3.svg'))
cat('x', file = file.path(shown, 'a name.csv'))
cat('x', file = file.path(shown, 'x.exe'))
dir.create(file.path(shown, '4.png'))
system(paste0('mkfifo ', shown, '/5.png; truncate -s 5M ', shown, '/big.csv'))
invisible(1)
"""


def test_what_a_program_leaves_there_itself(cell: Cell) -> None:
    """One file of seven is what it says: the control."""
    result = cell(HOSTILE)
    assert result.ok, result
    assert [(each.name, each.content) for each in result.artifacts] == [("figure-1.svg", b"<svg/>")]
    assert "artifacts" in result.truncated


def test_a_cell_shows_its_own() -> None:
    need_language("r")
    with belljar.Sandbox(language="r") as box, box.session() as session:
        assert [each.name for each in session.run("plot(1); mtcars").artifacts] == [
            "figure-1.png",
            "result.csv",
        ]
        assert session.run("1").artifacts == ()
        assert [each.name for each in session.run("plot(2)").artifacts] == ["figure-1.png"]


def test_an_answer_in_the_interpreters_name() -> None:
    """A program that answers for R spoils no result but its own."""
    need_language("r")
    with belljar.Sandbox(language="r") as box:
        # sleeps: the program, which is ended where it would have ended.
        forged = box.run(
            "a <- fifo('/proc/self/fd/4', 'w')\n"
            "cat('[[[\\n\\n', file = a); close(a); Sys.sleep(1000)"
        )
        assert (forged.status, forged.value) == ("ok", None), forged
        flood = box.run(
            "a <- fifo('/proc/self/fd/4', 'w', blocking = TRUE)\n"
            "for (i in 1:200) cat(strrep('x', 1e5), file = a); cat('ok')"
        )
        assert (flood.status, flood.stdout, flood.value) == ("ok", "ok", None), flood
        assert box.run("2").value == 2


# What a single run is for its program.
SAME = {
    "input": ("cat(readLines(file('stdin')))", "a b"),
    "arguments": (
        "cat(commandArgs(TRUE), sub('--file=', '', grep('--file=', commandArgs(), value = TRUE)))",
        "one two main.R",
    ),
    "visible": ("1\nx <- 2\nx\ninvisible(3)\n'end'", '[1] 1\n[1] 2\n[1] "end"\n'),
    "own path": ("cat(sys.frame(1)$ofile)", "main.R"),
    "last": (".Last <- function() cat('bye')\ncat('hi ')", "hi bye"),
    "finalizer": (
        "reg.finalizer(globalenv(), function(e) cat('bye'), onexit = TRUE)\ncat('hi ')",
        "NULL\nhi bye",
    ),
    "unwritten": ("kept <- file('kept.txt', 'w')\ncat('kept', file = kept)", ""),
    "empty": ("", ""),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("own", [False, True], ids=["ahead", "environment"])
def test_a_run_with_a_spare_is_a_run(name: str, own: bool) -> None:
    need_language("r")
    source, printed = SAME[name]
    with belljar.Sandbox(language="r") as box:
        ran = box.run(
            source, stdin="a\nb\n", args=["one", "two"], **({"env": {"OWN": "1"}} if own else {})
        )
    assert (ran.status, ran.exit_code, ran.stdout, ran.stderr) == ("ok", 0, printed, ""), ran
    assert [each.content for each in ran.artifacts] == ([b"kept"] if name == "unwritten" else [])


def test_memory_is_refused_by_a_waiting_r_too() -> None:
    need_language("r")
    source = "x <- list(); for (i in 1:100000) x[[i]] <- numeric(1e6) + 1"
    with belljar.Sandbox(language="r") as box:
        ran = box.run(source, memory="400m")
        assert ran.status == "exception" and ran.error is not None, ran
        assert "memory" in ran.error.message
        assert box.run("length(numeric(2e7))", memory="400m").value == 20_000_000


def test_files_of_any_language_arrive() -> None:
    need_language("bash")
    source = "echo '<svg/>' > a.svg; echo '<p>' > b.html; printf '\\x89PNG\\r\\n\\x1a\\n' > c.png"
    with belljar.Sandbox(language="bash") as box:
        made = box.run(source)
    assert {each.name: each.media_type for each in made.artifacts} == {
        "a.svg": "image/svg+xml",
        "b.html": "text/html",
        "c.png": "image/png",
    }


def test_an_answer_has_a_printed_value_once() -> None:
    need_language("r")
    command = [BELLJAR, "run", "--lean", "--language", "r", "-c", "c(a = 1)"]
    done = subprocess.run(command, capture_output=True, check=True, text=True, cwd="/")
    assert done.stdout == "stdout:\na \n1\n", done


def test_the_example(tmp_path: Path) -> None:
    need_language("r")
    command = [
        BELLJAR,
        "run",
        "--json",
        "--save-artifacts",
        tmp_path / "out",
        ROOT / "examples/analysis.R",
    ]
    done = subprocess.run(command, capture_output=True, check=True, cwd="/", env=os.environ)
    outcome = json.loads(done.stdout)
    assert outcome["stdout"].startswith("correlation: 0.81 \n"), outcome
    assert (tmp_path / "out/figure-1.png").read_bytes().startswith(PNG)
    assert (tmp_path / "out/result.csv").read_text().startswith('"speed","dist"\n4,6\n')
