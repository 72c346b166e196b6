"""examples/ci: each is valid for its reader, and its commands do what they say."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ElementTree

import yaml

from tests.pipelines.conftest import BAD, GOOD, ROOT, matches_schema, pre_commit

EXAMPLES = ROOT / "examples/ci"


def test_every_example_is_tried_here():
    assert {path.name for path in EXAMPLES.iterdir()} == {
        "github.yml",
        "gitlab.yml",
        "pre-commit-config.yaml",
    }


def test_the_workflow_is_valid_and_uses_inputs_that_exist():
    file = EXAMPLES / "github.yml"
    done = matches_schema("github-workflows", file)
    assert done.returncode == 0, done.stdout
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    (job,) = yaml.safe_load(file.read_text())["jobs"].values()
    (step,) = [step for step in job["steps"] if "/belljar@" in step.get("uses", "")]
    assert set(step["with"]) <= set(inputs)
    (upload,) = [step for step in job["steps"] if "upload-sarif" in step.get("uses", "")]
    assert upload["with"]["sarif_file"] == step["with"]["sarif-file"]
    assert step["with"]["sarif-file"] in upload["if"]


def test_the_gitlab_job_writes_both_reports_and_fails(run, tmp_path):
    file = EXAMPLES / "gitlab.yml"
    done = matches_schema("gitlab-ci", file)
    assert done.returncode == 0, done.stdout
    (job,) = yaml.safe_load(file.read_text()).values()
    reports = job["artifacts"]["reports"]
    script = "\n".join(job["script"])

    for source, code in ((GOOD, 0), (BAD, 1)):
        (tmp_path / "main.py").write_text(source)
        variables = job["variables"] | {"CHECKED": "main.py", "CI_PROJECT_DIR": str(tmp_path)}
        # As the runner starts a job's script.
        done = run(tmp_path, "bash", "-e", "-o", "pipefail", "-c", script, **variables)
        assert done.returncode == code, done.stderr
        suite = ElementTree.parse(tmp_path / reports["junit"]).getroot()[0]
        assert (suite.get("tests"), suite.get("failures")) == ("1", str(code))
        quality = json.loads((tmp_path / reports["codequality"]).read_text())
        assert [entry["location"]["path"] for entry in quality] == ["main.py"] * code
        assert done.stdout.startswith("main.py:1:1: BJ201 ") is bool(code)


def test_the_pre_commit_configuration_runs(repository, run):
    shutil.copy(EXAMPLES / "pre-commit-config.yaml", repository / ".pre-commit-config.yaml")
    done = run(repository, *pre_commit("validate-config"))
    assert done.returncode == 0, done.stdout
    for source, code in ((GOOD, 0), (BAD, 1)):
        (repository / "main.py").write_text(source)
        run(repository, "git", "add", "-A")
        done = run(repository, *pre_commit("run", "--all-files"))
        assert done.returncode == code, done.stdout
        assert ("main.py:1:1: BJ201 " in done.stdout) is bool(code)
