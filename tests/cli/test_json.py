"""belljar run --json: one object, always the same keys, and the same exit codes."""

import json
import os
import pty
import shutil
import subprocess

import pytest

NUMBER = (int, float)
SCHEMA = {
    "success": bool,
    "status": str,
    "execution_id": str,
    "result": object,
    "result_repr": (str, type(None)),
    "stdout": str,
    "stderr": str,
    "exit_code": (int, type(None)),
    "execution_time": NUMBER,
    "variables": list,
    "error": (dict, type(None)),
    "findings": list,
    "usage": dict,
    "truncated": dict,
    "limits": dict,
    "isolation": dict,
    "security_events": list,
    "artifacts": list,
    "artifacts_note": (str, type(None)),
    "network": list,
    "container": (dict, type(None)),
}
LIMITS = {
    "timeout",
    "cpu",
    "memory_bytes",
    "output_bytes",
    "result_bytes",
    "source_bytes",
    "file_size_bytes",
    "artifact_bytes",
    "artifacts_bytes",
    "open_files",
    "processes",
}


def outcome_of(done) -> dict:
    assert done.stdout.endswith("\n")
    assert done.stdout.count("\n") == 1
    outcome = json.loads(done.stdout)
    assert list(outcome) == list(SCHEMA)
    for key, kind in SCHEMA.items():
        assert isinstance(outcome[key], kind), key
    assert set(outcome["usage"]) == {"wall_time", "cpu_time", "max_rss_bytes"}
    assert set(outcome["limits"]) == LIMITS
    assert set(outcome["isolation"]) == {"mode", "policy", "language", "layers"}
    for layer in outcome["isolation"]["layers"]:
        assert set(layer) == {"name", "held", "detail"}
    for finding in outcome["findings"]:
        assert set(finding) == {
            "rule", "name", "line", "column", "end_line", "end_column", "reason", "hint", "profile",
        }  # fmt: skip
    if outcome["error"]:
        assert set(outcome["error"]) == {"type", "message", "line", "column", "traceback", "hint"}
    assert outcome["success"] == (outcome["status"] == "ok")
    return outcome


@pytest.mark.parametrize(
    ("code", "arguments", "exit_code", "status"),
    [
        ("1", [], 0, "ok"),
        ("1/0", [], 1, "exception"),
        ("def", [], 1, "exception"),
        ("import sys; sys.exit(3)", [], 1, "exception"),
        ("import glob", [], 3, "refused"),
        ("while True: pass", ["--timeout", "200ms"], 4, "timeout"),
        ("while True: pass", ["--cpu", "200ms"], 4, "cpu_limit"),
        ("x = 'a' * 10**10", [], 4, "memory_limit"),
        ("import os; os._exit(1)", ["--policy", "off"], 4, "killed"),
    ],
)
def test_status_and_exit_code(belljar, code, arguments, exit_code, status):
    done = belljar("run", "--json", "-c", code, *arguments)
    assert done.stderr == ""
    outcome = outcome_of(done)
    assert (done.code, outcome["status"]) == (exit_code, status)


def test_values(belljar):
    code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\nx = 1\n{'a': [1, None]}"
    outcome = outcome_of(belljar("run", "--json", "-c", code, "--timeout", "5", "--memory", "64m"))
    assert outcome["stdout"] == "out\n"
    assert outcome["stderr"] == "err\n"
    assert outcome["result"] == {"a": [1, None]}
    assert outcome["result_repr"] == "{'a': [1, None]}"
    assert outcome["variables"] == ["x"]
    assert outcome["limits"]["timeout"] == outcome["limits"]["cpu"] == 5.0
    assert outcome["limits"]["memory_bytes"] == 64 << 20
    assert outcome["isolation"]["mode"] == "strict"
    assert (outcome["isolation"]["policy"], outcome["isolation"]["language"]) == (
        "on",
        "restricted",
    )
    assert 0 < outcome["usage"]["cpu_time"] < 5
    assert outcome["execution_time"] == outcome["usage"]["wall_time"]


def test_a_layer_left_out_shows(belljar):
    outcome = outcome_of(belljar("run", "--json", "--without", "landlock", "-c", "1"))
    held = {layer["name"]: layer["held"] for layer in outcome["isolation"]["layers"]}
    assert held["landlock"] is False
    assert held["namespaces"] is held["privileges"] is held["rlimits"] is held["seccomp"] is True


def test_truncated(belljar):
    outcome = outcome_of(belljar("run", "--json", "--max-output", "1k", "-c", "print('x' * 2000)"))
    assert outcome["truncated"]["stdout"] == 977
    assert outcome["stdout"] == "x" * 1024


def test_every_run_has_its_own_id(belljar):
    ids = {outcome_of(belljar("run", "--json", "-c", "1"))["execution_id"] for _ in range(3)}
    assert len(ids) == 3


def test_a_source_too_long_to_be_handed_over(belljar, tmp_path):
    file = tmp_path / "big.py"
    with file.open("wb") as out:
        out.truncate(17 << 20)
    done = belljar("run", "--json", file)
    outcome = outcome_of(done)
    assert (done.code, outcome["status"]) == (3, "refused")
    assert outcome["findings"][0]["rule"] == "BJ003"
    assert outcome["error"]["message"] == "BJ003 source is 17,825,792 bytes; the limit is 16m"


def test_indented_on_a_terminal(program):
    master, slave = pty.openpty()
    process = subprocess.Popen([program, "run", "--json", "-c", "1"], stdout=slave)
    os.close(slave)
    text = b""
    try:
        while piece := os.read(master, 65536):
            text += piece
    except OSError:  # EIO: the other side has closed
        pass
    os.close(master)
    assert process.wait() == 0
    assert text.count(b"\n") > 20
    assert json.loads(text)["result"] == 1


def test_our_own_failure_is_an_object_too(program, tmp_path):
    alone = tmp_path / "belljar"
    shutil.copy(program, alone)
    done = subprocess.run([alone, "run", "--json", "-c", "1"], capture_output=True, text=True)
    assert done.returncode == 5
    failure = json.loads(done.stdout)
    assert failure == {
        "success": False,
        "status": "error",
        "error": {"type": "BelljarError", "message": failure["error"]["message"]},
    }
    assert failure["error"]["message"].startswith("find the installation: no belljar-zygote")
    assert done.stderr == f"belljar: error: {failure['error']['message']}\n"


def test_a_usage_error_has_no_object(belljar):
    done = belljar("run", "--json", "--timeout", "x", "-c", "1")
    assert (done.code, done.stdout) == (2, "")
