"""The clients of SandboxFusion, Piston and Judge0, and verl's reward function, as they are on PyPI,
against the real server."""

import base64
import json
import subprocess
from pathlib import Path

import pytest

from tests.compatible.conftest import SOURCES, TOKEN

SESSION = Path(__file__).with_name("session.py")
SIGKILL = 9


@pytest.fixture(scope="module")
def session(server, clients) -> dict:
    done = subprocess.run(
        [clients, SESSION, server.url.removesuffix("/mcp"), TOKEN, SOURCES],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


# --- SandboxFusion ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "status", "command", "code", "summary"),
    [
        ("ok", "Success", "Finished", 0, "Success"),
        ("exception", "Failed", "Finished", 1, "RunFailed"),
        ("syntax", "Failed", "Finished", 1, "RunFailed"),
        ("refused", "Failed", "Finished", 1, "RunFailed"),
        ("exit", "Failed", "Finished", 7, "RunFailed"),
        ("endless", "Failed", "TimeLimitExceeded", None, "Timeout"),
    ],
)
def test_fusion_understands_how_a_program_ended(session, name, status, command, code, summary):
    response = session["fusion"][name]
    assert response["status"] == status, response
    assert response["run_result"]["status"] == command
    assert response["run_result"]["return_code"] == code
    assert response["summary"] == summary


def test_fusion_gets_what_was_printed(session):
    fusion = session["fusion"]
    assert fusion["ok"]["run_result"]["stdout"] == "hello\n"
    assert 0 < fusion["ok"]["run_result"]["execution_time"] < 10
    assert fusion["exception"]["run_result"]["stdout"] == "before\n"
    assert "ZeroDivisionError" in fusion["exception"]["run_result"]["stderr"]
    assert "SyntaxError" in fusion["syntax"]["run_result"]["stderr"]
    assert fusion["syntax"]["run_result"]["stdout"] == ""
    assert "BJ201" in fusion["refused"]["run_result"]["stderr"]
    assert fusion["async"]["run_result"]["stdout"] == "async\n"


def test_fusion_sends_and_fetches_files(session):
    assert session["fusion"]["files"]["files"] == {
        "./out.txt": "RlJPTSBUSEUgQ0xJRU5U",
        "in.txt": "ZnJvbSB0aGUgY2xpZW50",
    }


def test_fusion_is_told_that_there_is_no_other_language(session):
    assert "422" in session["fusion"]["other_language"]
    assert "is not enabled on this server (python)" in session["fusion"]["other_language"]


def test_fusion_runs_a_notebook(session):
    notebook = session["fusion"]["notebook"]
    assert notebook["status"] == "Success", notebook
    assert notebook["driver"]["status"] == "Finished"
    cells = notebook["cells"]
    assert len(cells) == 6
    assert cells[1]["display"] == [{"text/plain": "123"}]
    assert cells[2]["stdout"] == "123\n"
    assert cells[3]["stderr"] == "stderr message"
    (error,) = cells[4]["error"]
    assert (error["ename"], error["evalue"]) == ("RuntimeError", "error message")
    assert any("RuntimeError" in line for line in error["traceback"])
    assert cells[5]["error"] == []
    assert notebook["files"] == {"out.txt": "MTIz", "in.txt": "ZnJvbSB0aGUgY2xpZW50"}


def test_a_notebook_ends_at_an_endless_cell(session):
    notebook = session["fusion"]["endless_notebook"]
    assert notebook["status"] == "Failed"
    assert notebook["driver"]["status"] == "TimeLimitExceeded"
    assert len(notebook["cells"]) == 2


@pytest.mark.parametrize(
    ("name", "score", "statuses"),
    [
        ("right", 1.0, ["success"] * 3),
        ("wrong", 0.0, ["wrong_answer"] * 3),
        ("raises", 0.0, ["runtime_error"] * 3),
        ("syntax", 0.0, ["runtime_error"] * 3),
        ("endless", 0.0, ["timeout"]),
        ("memory", 0.0, ["runtime_error"]),
        ("asserts", 0.5, ["success", "runtime_error"]),
    ],
)
def test_rewards_of_verl(session, name, score, statuses):
    assert session["rewards"][name] == [score, statuses]


# --- Piston -------------------------------------------------------------------------------------


def test_piston_finds_python(session):
    (runtime,) = session["piston"]["runtimes"]
    assert runtime["language"] == "python"
    assert runtime["version"].startswith("3.")
    assert "py" in runtime["aliases"]
    (package,) = session["piston"]["packages"]
    assert package["installed"] is True


def test_piston_executes(session):
    piston = session["piston"]
    assert piston["ok"]["run"]["stdout"] == "in ['a', 'b']\n"
    assert piston["ok"]["run"]["code"] == 0
    assert piston["ok"]["run"]["signal"] is None
    assert piston["ok"]["version"] == piston["runtimes"][0]["version"]
    assert piston["exception"]["run"]["code"] == 1
    assert "ZeroDivisionError" in piston["exception"]["run"]["stderr"]
    assert piston["exception"]["run"]["output"] == piston["exception"]["run"]["stderr"]
    assert piston["async"]["run"]["stdout"] == "async\n"


@pytest.mark.parametrize("name", ["endless", "memory"])
def test_piston_is_told_the_signal_of_a_limit(session, name):
    run = session["piston"][name]["run"]
    assert (run["code"], run["signal"]) == (None, "SIGKILL")


def test_piston_is_refused(session):
    assert session["piston"]["other_language"] == "BadRequestError"
    assert session["piston"]["install"] == "UnexpectedStatusError"
    assert session["piston"]["uninstall"] == "UnexpectedStatusError"


# --- Judge0 -------------------------------------------------------------------------------------


def test_judge0_knows_the_server(session):
    told = session["judge0"]
    assert told["version"] == "1.13.1"
    assert told["statuses"] == 14
    assert told["supported"] == [True, False]
    assert told["languages"][0]["name"].startswith("Python (3.")


def test_judge0_runs_and_waits(session):
    told = session["judge0"]
    assert told["ok"]["status"] == 3, told["ok"]
    assert told["ok"]["stdout"] == "HÄSS\n"
    assert told["ok"]["stderr"] is None
    assert told["ok"]["exit_code"] == 0
    assert told["ok"]["finished"] is True
    assert 0 < told["ok"]["memory"] < 1 << 20
    assert told["arguments"]["stdout"] == "['a', 'b c']\n"
    assert told["waits"] == [201, {"stdout": "now\n", "status_id": 3}]


def test_judge0_compares_with_the_expected_output(session):
    assert [each["status"] for each in session["judge0"]["tests"]] == [3, 4]


def test_judge0_is_told_how_a_program_ended(session):
    told = session["judge0"]
    assert (told["exception"]["status"], told["exception"]["exit_code"]) == (11, 1)
    assert "ZeroDivisionError" in told["exception"]["stderr"]
    assert told["endless"]["status"] == 5
    assert told["memory"]["status"] == 12
    assert told["memory"]["exit_signal"] == SIGKILL
    # Its client asks for base64, and decodes all but this.
    message = base64.b64decode(told["memory"]["message"]).decode()
    assert message.startswith("Memory limit exceeded")
