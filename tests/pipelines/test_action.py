"""action.yml, read and carried out as GitHub's runner does."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.pipelines.conftest import BAD, BELLJAR, BUILD, GOOD, ROOT, matches_schema, stand_in_wheel

FILE = ROOT / "action.yml"
ACTION = yaml.safe_load(FILE.read_text())
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


@dataclass
class Result:
    """What a job sees of the action."""

    code: int
    log: str
    outputs: dict[str, str]


def evaluate(text: str, inputs: dict[str, str], steps: dict[str, dict[str, str]]) -> str:
    """An expression that reads an input or a step's output; the action has no others."""

    def value(match: re.Match[str]) -> str:
        match match[1].split("."):
            case ["inputs", name]:
                return inputs[name]
            case ["steps", step, "outputs", name]:
                return steps.get(step, {}).get(name, "")
        raise AssertionError(f"what is {match[0]}?")

    return EXPRESSION.sub(value, text)


@pytest.fixture
def act(tmp_path, environment):
    """Runs the action in `workspace` as a job would, with the inputs given (hyphens as _)."""

    def act(workspace: Path, action: Path = ROOT, path: str | None = None, **given: str) -> Result:
        given = {name.replace("_", "-"): value for name, value in given.items()}
        assert set(given) <= set(ACTION["inputs"])
        inputs = {name: given.get(name, one["default"]) for name, one in ACTION["inputs"].items()}
        temporary = tmp_path / "runner"
        temporary.mkdir(exist_ok=True)
        steps: dict[str, dict[str, str]] = {}
        code, log = 0, ""
        for number, step in enumerate(ACTION["runs"]["steps"]):
            output = temporary / f"output-{number}"
            output.write_text("")
            script = temporary / f"script-{number}.sh"
            script.write_text(step["run"])
            variables = {name: evaluate(text, inputs, steps) for name, text in step["env"].items()}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
                cwd=workspace,
                env=environment
                | {"PATH": path or environment["PATH"]}
                | {
                    "GITHUB_ACTION_PATH": str(action),
                    "GITHUB_WORKSPACE": str(workspace),
                    "GITHUB_OUTPUT": str(output),
                    "RUNNER_TEMP": str(temporary),
                }
                | variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=100,
            )
            log += done.stdout
            lines = output.read_text().splitlines()
            steps[step["id"]] = dict(line.split("=", 1) for line in lines)
            code = done.returncode
            if code:
                break
        outputs = {
            name: evaluate(one["value"], inputs, steps) for name, one in ACTION["outputs"].items()
        }
        return Result(code, log, outputs)

    return act


@pytest.fixture
def workspace(tmp_path) -> Path:
    folder = tmp_path / "work space"
    (folder / "src dir").mkdir(parents=True)
    (folder / "good.py").write_text(GOOD)
    (folder / "src dir/bad.py").write_text(BAD)
    return folder


# --- the file --------------------------------------------------------------------------------


def test_the_action_is_valid():
    done = matches_schema("github-actions", FILE)
    assert done.returncode == 0, done.stdout


def test_no_expression_is_in_the_text_of_a_script():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_every_input_reaches_a_step_and_has_a_description():
    text = yaml.safe_dump(ACTION["runs"])
    for name, one in ACTION["inputs"].items():
        assert f"inputs.{name} " in text, name
        assert one["description"] and isinstance(one["default"], str), name


# --- what it does ----------------------------------------------------------------------------


def test_files_without_findings(act, workspace):
    result = act(workspace, paths="good.py")
    assert result.code == 0, result.log
    assert result.outputs["exit-code"] == "0"
    assert result.outputs["sarif-file"] == ""
    version = subprocess.run([BELLJAR, "--version"], capture_output=True, text=True).stdout
    assert version.startswith(f"belljar {result.outputs['version']} ")


def test_findings_become_annotations_and_fail_the_step(act, workspace):
    result = act(workspace, paths="good.py\n\nsrc dir/bad.py\n")
    assert (result.code, result.outputs["exit-code"]) == (1, "1")
    (command,) = [line for line in result.log.splitlines() if line.startswith("::")]
    assert command.startswith("::error file=src dir/bad.py,line=1,")


def test_findings_need_not_fail_it(act, workspace):
    result = act(workspace, paths="src dir/bad.py", fail_on_findings="false")
    assert (result.code, result.outputs["exit-code"]) == (0, "1")
    # What was not checked always does.
    result = act(workspace, paths="nowhere.py", fail_on_findings="false")
    assert (result.code, result.outputs["exit-code"]) == (2, "2")


def test_a_sarif_report_is_written_beside(act, workspace):
    result = act(workspace, paths="src dir/bad.py", sarif_file="re ports/belljar.sarif")
    assert result.code == 1
    file = workspace / "re ports/belljar.sarif"
    assert result.outputs["sarif-file"] == str(file)
    run = json.loads(file.read_text())["runs"][0]
    assert [one["ruleId"] for one in run["results"]] == ["BJ201"]


def test_a_working_directory_and_paths_from_there(act, workspace):
    result = act(workspace, working_directory="src dir", paths="bad.py", sarif_file="a.sarif")
    assert result.code == 1
    # Annotations are relative to the repository, wherever the command was started.
    assert "::error file=src dir/bad.py,line=1," in result.log
    assert (workspace / "a.sarif").is_file()
    assert act(workspace, working_directory="nowhere").code != 0


def test_options_are_passed_on(act, workspace):
    result = act(workspace, paths="good.py", profile="no-such-profile")
    assert (result.code, result.outputs["exit-code"]) == (2, "2")
    assert "no-such-profile" in result.log
    assert act(workspace, paths="good.py", isolation="standard").code == 0
    text = act(workspace, paths="src dir/bad.py", format="text").log
    assert "src dir/bad.py:1:1: BJ201" in text


# --- which belljar ---------------------------------------------------------------------------


def test_the_belljar_that_was_named_is_used(act, workspace, environment):
    path = environment["PATH"].replace(f"{BUILD}:", "")
    result = act(workspace, path=path, belljar=str(BELLJAR), paths="good.py")
    assert result.code == 0, result.log
    for wrong in ("nowhere/belljar", "belljar", str(workspace)):
        result = act(workspace, path=path, belljar=wrong, paths="good.py")
        assert result.code == 2 and "is not the path of a program" in result.log


def test_another_version_than_the_wanted_one_is_refused(act, workspace):
    result = act(workspace, paths="good.py", version="9.9.9")
    assert result.code == 2
    assert "version 9.9.9 is required" in result.log
    version = act(workspace, paths="good.py").outputs["version"]
    assert act(workspace, paths="good.py", version=version).code == 0


def test_without_one_the_wheel_of_its_version_is_installed(act, workspace, tmp_path, environment):
    path = environment["PATH"].replace(f"{BUILD}:", "")
    environment["PIP_FIND_LINKS"] = str(stand_in_wheel(tmp_path / "wheels").parent)
    result = act(workspace, path=path, paths="src dir/bad.py")
    assert (result.code, result.outputs["exit-code"]) == (1, "1"), result.log
    assert "building" not in result.log
    result = act(workspace, path=path, paths="good.py", version=result.outputs["version"])
    assert result.code == 0, result.log


def test_a_version_that_is_none_goes_to_no_pip(act, workspace, environment):
    path = environment["PATH"].replace(f"{BUILD}:", "")
    for wrong in ("0.1.0 --index-url=x", "0.1.0,<9", "latest", "-r"):
        result = act(workspace, path=path, paths="good.py", version=wrong)
        assert result.code == 2 and "is not one such as 0.1.0" in result.log


def test_without_a_wheel_it_is_built(act, workspace, tmp_path, environment):
    """By the ./dev beside action.yml; here a stand-in for it, which takes no minutes."""
    path = environment["PATH"].replace(f"{BUILD}:", "")
    action = tmp_path / "action"
    action.mkdir()
    for name in ("tools", "CMakeLists.txt"):
        (action / name).symlink_to(ROOT / name)
    dev = action / "dev"
    dev.write_text(
        '#!/bin/sh\n[ "$1 $2" = "run --help" ] || exit 9\n'
        'mkdir -p "$BELLJAR_BUILD_DIR/release"\n'
        f'printf \'#!/bin/sh\\nexec "{BELLJAR}" "$@"\\n\' > "$BELLJAR_BUILD_DIR/release/belljar"\n'
        'chmod +x "$BELLJAR_BUILD_DIR/release/belljar"\n'
    )
    dev.chmod(0o755)
    result = act(workspace, action=action, path=path, paths="good.py")
    assert result.code == 0, result.log
    dev.write_text("#!/bin/sh\nexit 2\n")
    result = act(workspace, action=action, path=path, paths="good.py")
    assert result.code == 2 and "could not be built" in result.log


# --- inputs that attack ----------------------------------------------------------------------

ATTACKS = [
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "x\ntouch pwned",
    "--help",
    "x\nexit-code=0",
    "a[$(touch pwned)]",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_input_is_run_or_taken_for_an_option(act, workspace, attack):
    for name in ACTION["inputs"]:
        given = {"paths": "good.py", "sarif_file": ""} | {name.replace("-", "_"): attack}
        result = act(workspace, **given)
        assert not list(workspace.rglob("pwned")), name
        assert "Usage" not in result.log and "usage:" not in result.log, name
        if name != "sarif-file":  # any name is one of a file
            assert result.code != 0, (name, result.log)
        assert result.outputs["exit-code"] in ("", str(result.code)), name


def test_such_an_input_would_be_run_if_it_stood_in_the_script(workspace):
    """The control: what the expressions of a careless action would come to."""
    script = "belljar validate ${{ inputs.paths }}".replace("${{ inputs.paths }}", ATTACKS[0])
    subprocess.run(["bash", "-c", script], cwd=workspace, capture_output=True)
    assert (workspace / "pwned").exists()
