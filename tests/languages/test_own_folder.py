"""A folder with languages of an operator's own, for the command and for a server."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.machine import BELLJAR, need_layers

LANGUAGE = """
schema = 1
name = "NAME"
extends = "base"
summary = "Bash by another name."

[program]
why = "tests"
title = "NAME"
package = "bash"
version = ["bash", "--version"]
file = "main.own"
command = ["bash", "{file}"]
example = "echo hello"

[[paths]]
path = "/usr/bin"
why = "bash"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "own"
    made.mkdir()
    for name in ("second", "first"):
        (made / f"{name}.toml").write_text(LANGUAGE.replace("NAME", name))
    (made / "notes.txt").write_text("not a language")
    return made


def languages(*arguments: str | Path, code: int = 0) -> str:
    ran = subprocess.run(
        [BELLJAR, "languages", *arguments], capture_output=True, text=True, check=False
    )
    assert ran.returncode == code, ran
    return ran.stderr if code else ran.stdout


def test_the_command_lists_them(folder: Path) -> None:
    need_layers("strict")
    listed = json.loads(languages("--json", folder, "bash"))["languages"]
    assert [each["name"] for each in listed] == ["python", "first", "second", "bash"]
    assert all(each["installed"] for each in listed), listed


def test_a_server_offers_all_of_them(folder: Path, tmp_path: Path) -> None:
    need_layers("strict")
    arguments = {"code": "echo $((6 * 7))", "language": "second"}
    calls = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "execute_code", "arguments": arguments}},
    ]  # fmt: skip
    file = tmp_path / "calls.jsonl"
    file.write_text("".join(json.dumps(call) + "\n" for call in calls))
    with file.open() as calls_of_file:
        served = subprocess.run(
            [BELLJAR, "serve", "--languages", f"bash,{folder}/", "--log-level", "off"],
            stdin=calls_of_file, capture_output=True, text=True, check=True,
        )  # fmt: skip
    answers = {each["id"]: each["result"] for each in map(json.loads, served.stdout.splitlines())}
    (tool,) = [each for each in answers[1]["tools"] if each["name"] == "execute_code"]
    offered = tool["inputSchema"]["properties"]["language"]["enum"]
    assert offered == ["python", "bash", "first", "second"]
    assert answers[2]["content"][0]["text"] == "stdout:\n42"


def test_a_folder_without_languages_is_refused(tmp_path: Path) -> None:
    why = f'read the languages of "{tmp_path}": it has no .toml file'
    assert why in languages(tmp_path, code=2)
    served = subprocess.run(
        [BELLJAR, "serve", "--check", "--languages", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert served.returncode == 2
    assert why in served.stderr and "--languages" in served.stderr, served.stderr


def test_an_unknown_name_is_refused() -> None:
    assert 'unknown language "bsh"; did you mean "bash"?' in languages("bsh", code=2)


def test_a_broken_file_is_named(folder: Path) -> None:
    (folder / "third.toml").write_text("schema = 1\nextends = 3\n")
    assert "third.toml" in languages(folder, code=2)
