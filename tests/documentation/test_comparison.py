"""docs/comparison.md and README.md: our figures were measured, others have a source."""

import re

import pytest

from tests.documentation.conftest import page, table

SYSTEMS = (
    "system",
    "isolation",
    "from request to a running program",
    "languages",
    "state between calls",
    "needs",
)
SERVERS = (
    "server",
    "isolation",
    "languages",
    "state between calls",
    "network of a program",
    "needs",
)
ROWS = table(page("docs/comparison.md"), *SYSTEMS)
START = (*SYSTEMS[:2], "time to start a program", *SYSTEMS[3:])
README = table(page("README.md"), *START)
MEASURED = "".join(page(f"docs/performance{name}.md") for name in ("", "-interfaces", "-packages"))


def measured(row: str, column: int) -> float:
    """Of the first table with a row of this name: a figure in ms."""
    (cells,) = re.findall(rf"^\| {re.escape(row)} \| (.*) \|$", MEASURED, re.M)[:1]
    text = cells.split(" | ")[column]
    number = float(re.match(r"[\d.]+", text)[0])
    return number * 1000 if re.match(r"[\d.]+ s", text) else number


# What is said, where it is from, and how far it is rounded.
FIGURES = [
    ("0.5 ms with spares ready", 0.5, "belljar, library: 1+1, spares ready", 1, 0.05),
    ("1.0 ms over MCP or HTTP", 1.0, "belljar serve, HTTP keep-alive: execute_code", 1, 0.05),
    ("79 ms for the whole command", 79, "belljar run -c 'print(1)', the whole command", 1, 0.5),
    ("4 ms (runc)", 4, "one waits: median (minimum)", 0, 0.5),
    ("14 ms (gVisor)", 14, "one waits: median (minimum)", 1, 0.5),
    ("0.24 s and 1.5 s without", 240, "no container waits", 0, 5),
    ("*ours*: 7 ms", 7, "python3 -I -S -c pass, cold", 1, 0.5),
    ("*ours*: 9 ms", 9, "bwrap --unshare-all python3 -I -S -c pass", 1, 0.5),
    ("0.57 s for", 570, "`docker run --rm --runtime=runsc … python3 -c pass`", 1, 5),
    ("a session each: 2.5 ms", 2.5, "pydantic-monty 1.4, a session each", 0, 0.05),
    ("`box.run` takes 1.4 ms", 1.4, "`box.run`", 0, 0.05),
]


@pytest.mark.parametrize(("said", "figure", "row", "column", "rounded"), FIGURES)
def test_our_figures_were_measured(said, figure, row, column, rounded):
    assert any(said in cell for cells in ROWS for cell in cells)
    assert measured(row, column) == pytest.approx(figure, abs=rounded)


def test_the_readme_has_the_same_figures():
    first = README[0][2]
    assert "0.5 ms" in first and "79 ms" in first
    assert "0.24 s" in README[1][2] and "0.57 s" in README[2][2]


def test_whoever_is_compared_has_a_source():
    for name, _, start, *_ in [*ROWS, *README]:
        assert "](https://" in name or "*ours*" in start or "[measured](" in start, name
    for name, *_ in table(page("docs/comparison.md"), *SERVERS):
        assert "](https://" in name or name == "Belljar"
