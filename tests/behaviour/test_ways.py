"""The same program has the same outcome by the command, over MCP and from Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.behaviour.cases import CASES, Case, differences
from tests.data_science.session import Session

BUILD = Path(os.environ.get("BELLJAR_BUILD", Path(__file__).parents[2] / "build/release")).resolve()
BELLJAR = BUILD / "belljar"

Way = Callable[[Case], dict[str, Any]]


def by_the_command(case: Case, tmp_path: Path) -> dict[str, Any]:
    program = tmp_path / "main.py"
    program.write_text(case.code)
    options: list[str] = []
    arguments: list[str] = []
    for name, value in case.asked.items():
        if name == "stdin":
            (tmp_path / "stdin").write_text(value)
            options += ["--stdin", str(tmp_path / "stdin")]
        elif name == "args":
            arguments = ["--", *value]
        elif name == "env":
            options += [f"--env={key}={each}" for key, each in value.items()]
        elif name == "allowed_imports":
            options += ["--allow-import", ",".join(value)]
        else:
            options += [f"--{name}", str(value)]
    done = subprocess.run(
        [BELLJAR, "run", "--json", *options, program, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def from_python(case: Case, box: Any) -> dict[str, Any]:
    """The Result, by the names that the command's object has."""
    import dataclasses

    result = box.run(case.code, **case.asked)
    outcome = dataclasses.asdict(result)
    dropped = {"stdout": result.stdout_dropped, "stderr": result.stderr_dropped}
    return outcome | {
        "success": result.ok,
        "result": result.value,
        "result_repr": result.value_repr,
        "variables": list(result.variables),
        "findings": list(outcome["findings"]),
        "truncated": {name: count for name, count in dropped.items() if count},
    }


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    session = Session(BELLJAR)
    yield session
    session.close()


@pytest.fixture(scope="module")
def box() -> Iterator[Any]:
    sys.path.insert(0, str(BUILD / "python"))
    try:
        from belljar import Sandbox
    finally:
        sys.path.pop(0)
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(params=["command", "mcp", "python"])
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Way:
    if request.param == "command":
        return lambda case: by_the_command(case, tmp_path)
    if request.param == "python":
        box = request.getfixturevalue("box")
        return lambda case: from_python(case, box)
    session = request.getfixturevalue("session")
    names = {"memory": "memory_limit"}

    def over_mcp(case: Case) -> dict[str, Any]:
        asked = {names.get(name, name): value for name, value in case.asked.items()}
        found: dict[str, Any] = session.run(case.code, **asked)
        return found

    return over_mcp


@pytest.mark.parametrize("name", CASES)
def test_programs(way: Way, name: str) -> None:
    case = CASES[name]
    outcome = way(case)
    assert differences(case, outcome) == {}, outcome


def test_differences_are_noticed() -> None:
    case = Case("", {"a": 1, "b.0.c": 2, "d": {3, 4}})
    good = {"a": 1, "b": [{"c": 2}], "d": 4}
    assert differences(case, good) == {}
    assert differences(case, good | {"a": 2, "d": 5}) == {"a": 2, "d": 5}
