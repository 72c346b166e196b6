""".github/workflows: of the form that GitHub takes, and made of words that ./dev has."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_it_has_the_form_of_a_workflow(path):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run(
        [*command, "vendor.github-workflows", path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def steps(path: Path) -> list[dict]:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_their_content(path):
    for step in steps(path):
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_nothing_of_the_event_is_part_of_a_script(path):
    """It would be executed: whoever names a branch or a tag writes it."""
    for step in steps(path):
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_each_word_of_dev_exists(path):
    words = re.search(r"^WORDS=\((.*?)\)$", (ROOT / "dev").read_text(), re.M | re.S)[1].split()
    runs = [step.get("run", "") for step in steps(path)]
    used = [word for run in runs for word in re.findall(r"\./dev (\w+)", run)]
    assert used or "ci/run" in path.read_text()
    assert set(used) <= set(words)


def test_only_what_needs_it_may_write():
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
