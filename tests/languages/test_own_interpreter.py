"""A language of one's own whose interpreter reports a value and shows files."""

import json
from pathlib import Path

import pytest

from tests.languages.conftest import Run

ANSWER = {"result": '{"a": [1, 2]}', "repr": "<a>", "notes": {"t.csv": "a table"}}
OWN = """
schema = 1
name = "own"
extends = "base"
summary = "Bash that answers."

[program]
why = "tests"
title = "Own"
package = "bash"
version = ["bash", "--version"]
file = "main.own"
command = ["bash", "-c", "echo not so"]
shared = "mkdir /tmp/shows; echo 1 > /tmp/shows/t.csv; echo '<svg/>' > /tmp/shows/b.svg"
warm = ["bash", "-c", '''
printf . >&4
read -r request <&3
{shared}
echo "$request" > request.json
. ./main.own
printf '%s\\n' 'ANSWER' >&4
END
''']
value = true
shows = "/tmp/shows"
example = "echo hello"

[[paths]]
path = "/usr/bin"
why = "bash and mkdir"

[artifacts]
size = "1m"
why = "what it shows"
""".replace("ANSWER", json.dumps(ANSWER))


@pytest.mark.parametrize("end", ["", "echo >&4; sleep 1000"], ids=["exits", "is done"])
def test_its_value_and_its_files_arrive(end: str, run: Run, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.replace("END", end))
    ran = run("bash", "echo out\n", options=("--language", own))
    assert (ran.status, ran.stdout, ran.result, ran.result_repr) == (
        "ok",
        "out\n",
        {"a": [1, 2]},
        "<a>",
    ), ran.outcome
    shown = {each["name"]: (each["media_type"], each["note"]) for each in ran.artifacts}
    assert shown["figure-1.svg"] == ("image/svg+xml", None), shown
    assert shown["t.csv"] == ("text/csv", "a table"), shown
    (request,) = [each["content"] for each in ran.artifacts if each["name"] == "request.json"]
    request = json.loads(request)
    assert request["file"].endswith(".own") and request["memory"] == 512 << 20


@pytest.mark.parametrize(
    "answer", ["{", '{"result": 5}', '{"notes": [1]}', '{"result": "[["}', "[" * 3000]
)
def test_a_malformed_answer_is_no_value(answer: str, run: Run, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.replace("END", "").replace(json.dumps(ANSWER), answer))
    ran = run("bash", "echo out\n", options=("--language", own))
    assert (ran.status, ran.stdout, ran.result) == ("ok", "out\n", None), ran.outcome


def test_an_exit_code_stands_without_a_value(run: Run, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.replace("END", ""))
    ran = run("bash", "exit 3\n", options=("--language", own))
    assert (ran.status, ran.exit_code, ran.result) == ("exception", 3, None), ran.outcome
    assert {each["name"] for each in ran.artifacts} >= {"figure-1.svg", "t.csv"}, ran.outcome


def test_a_value_without_an_interpreter_that_waits_is_refused(run: Run, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.replace("warm = [", "session = ["))
    ran = run("bash", "echo out\n", options=("--language", own))
    assert ran.code != 0 and '"value" requires "warm"' in ran.stderr, ran
