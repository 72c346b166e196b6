"""examples/data_science, and what docs/data-science.md shows."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

from tests.data_science.plain import PlainPython
from tests.data_science.session import Session

ROOT = Path(__file__).parents[2]
SHOWN = {
    "lesson": ["figure-1.png"],
    "clean_csv": ["result.csv"],
}


@pytest.mark.parametrize("name", SHOWN)
def test_example(name: str, sandbox: Session, plain: PlainPython) -> None:
    source = (ROOT / "examples" / "data_science" / f"{name}.py").read_text(encoding="utf-8")
    ours = sandbox.run(source)
    theirs = plain.run(f"import io, sys\nsys.stdin = io.StringIO()\n{source}")
    assert theirs["error"] is None, theirs["error"]
    assert ours["status"] == "ok", ours["error"]
    assert ours["stdout"] == theirs["stdout"] != ""
    assert [each["name"] for each in ours["artifacts"]] == SHOWN[name]


def test_every_example_is_tried() -> None:
    assert {path.stem for path in (ROOT / "examples" / "data_science").glob("*.py")} == set(SHOWN)


def test_the_page(sandbox: Session) -> None:
    page = (ROOT / "docs" / "data-science.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert programs
    for program in programs:
        outcome = sandbox.run(program)
        assert outcome["status"] == "ok", outcome["error"]
        assert outcome["artifacts"]


def test_the_call_that_the_page_of_clients_shows(build: Path, packages: Path, monkeypatch) -> None:
    page = (ROOT / "docs/clients.md").read_text(encoding="utf-8")
    command = re.search(r"^((?:SANDBOX_ENABLE_\w+=true )+)belljar serve$", page, re.M)
    arguments = re.search(r"^```json\n(\{\"code\".*?)^```$", page, re.M | re.S)
    for setting in command[1].split():
        monkeypatch.setenv(*setting.split("="))
    client = runpy.run_path(str(ROOT / "examples/clients/mcp_client.py"))["Client"]
    server = client([str(build / "belljar"), "serve"])
    try:
        outcome = server.call("execute_code", **json.loads(arguments[1]))
    finally:
        server.close()
    assert outcome["success"], outcome["error"]
    assert "60.5" in outcome["result_repr"], "the mean of the two ages"
    assert [each["name"] for each in outcome["artifacts"]] == ["result.csv"]
