"""What the pages show, tried on the command they are about."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve()
BELLJAR = BUILD / "belljar"
PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not {"build", "node_modules"} & set(path.relative_to(ROOT).parts)
)


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    """From its heading to the next one that is not below it."""
    marks, _, rest = re.search(rf"^(#+) ({re.escape(title)})\n(.*)", text, re.M | re.S).groups()
    return re.split(rf"^#{{1,{len(marks)}}} ", rest, maxsplit=1, flags=re.M)[0]


def table(text: str, *header: str) -> list[list[str]]:
    """The rows below the one table with these headings; cells without their backquotes."""
    _, found, rest = text.partition("| " + " | ".join(header) + " |\n")
    assert found, f"there is no table of {header}"
    rows = rest.split("\n\n")[0].splitlines()[1:]
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        for row in rows
        if row.startswith("|")
    ]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def environment(**more: str) -> dict[str, str]:
    """Nothing in it that would configure a server; what was built comes first on PATH."""
    ours = {k: v for k, v in os.environ.items() if not k.startswith(("SANDBOX_", "BELLJAR_"))}
    return ours | {"PATH": f"{BUILD}:{Path(sys.executable).parent}:{os.environ['PATH']}"} | more


def shell(block: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs what a page shows; what goes to standard error is in the output, as at a terminal."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd=folder,
        env=environment(HOME=str(folder), **more),
        timeout=120,
    )


def shows(expected: str, printed: str) -> bool:
    """Whether a page's block is what was printed; … stands for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("…"))
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


@contextmanager
def serving(log: Path, *options: str, folder: Path | None = None) -> Iterator[str]:
    """A server at a free port of loopback; its address as in http://ADDRESS/mcp."""
    with open(log, "wb") as stderr:
        process = subprocess.Popen(
            [BELLJAR, "serve", *options, "--http", "127.0.0.1:0"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        try:
            started = json.loads(process.stderr.readline())
            yield started["listen"].removeprefix("http://").removesuffix("/mcp")
        finally:
            process.send_signal(signal.SIGTERM)
            entries = process.communicate(timeout=60)[1]
            stderr.write(entries)


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("server") / "log.txt") as address:
        yield address
