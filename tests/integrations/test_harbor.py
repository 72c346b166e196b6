"""belljar.adapters.harbor under Harbor's own runner, with its oracle agent."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.conftest import ROOT

DOCKERFILE = """\
FROM ubuntu:24.04
ENV GREETING="hello world" OTHER=x
WORKDIR /app
COPY data /srv/data
COPY seed.txt .
CMD ["sleep", "infinity"]
"""
SOLVE = """\
#!/bin/bash
set -e
[ "$GREETING" = "hello world" ] && [ "$PWD" = /app ]
cat seed.txt /srv/data/*.txt > answer.txt
id -u > /logs/artifacts/user.txt
"""
TEST = """\
#!/bin/bash
cp /app/answer.txt /logs/verifier/seen.txt
diff -u /tests/expected.txt /app/answer.txt && reward=1
echo ${reward-0} > /logs/verifier/reward.txt
"""


@pytest.fixture
def task(tmp_path):
    files = {
        "task.toml": (
            'version = "1.0"\n[verifier]\ntimeout_sec = 120\n[agent]\ntimeout_sec = 120\n'
            "[environment]\nmemory_mb = 512\n"
        ),
        "instruction.md": "Join the files in answer.txt.\n",
        "environment/Dockerfile": DOCKERFILE,
        "environment/seed.txt": "seed\n",
        "environment/data/a.txt": "a\n",
        "environment/data/b.txt": "b\n",
        "solution/solve.sh": SOLVE,
        "tests/test.sh": TEST,
        "tests/expected.txt": "seed\na\nb\n",
    }
    folder = tmp_path / "task"
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def harbor(task: Path, *options: str) -> str:
    """The output of the line of the page, without the frames that it draws."""
    page = (ROOT / "docs/adapters.md").read_text()
    (line,) = re.findall(r"^harbor (run .*)$", page, re.M)
    words = [str(task) if word == "TASK" else word for word in line.split()]
    done = subprocess.run(
        [
            Path(sys.executable).with_name("harbor"),
            *words,
            *options,
            "--jobs-dir",
            task.parent / "jobs",
        ],
        cwd=task.parent,
        env=os.environ | {"HOME": str(task.parent), "HARBOR_TELEMETRY": "0", "DO_NOT_TRACK": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=110,
    )
    return " ".join(re.sub("[│╭╰─]", " ", done.stdout + done.stderr).split())


def run(task: Path, *options: str) -> tuple[dict, Path, str]:
    """Its only trial's result, the trial's folder, and the output."""
    output = harbor(task, *options)
    found = list((task.parent / "jobs").glob("*/*/result.json"))
    assert len(found) == 1, output
    return json.loads(found[0].read_text()), found[0].parent, output


def test_the_oracle_solves_a_task(task):
    result, trial, output = run(task)
    assert result["exception_info"] is None, output
    assert result["verifier_result"]["rewards"] == {"reward": 1.0}, output
    assert (trial / "verifier/seen.txt").read_text() == "seed\na\nb\n"
    assert [path.read_text() for path in trial.rglob("user.txt")] == ["65534\n"]


def test_a_wrong_solution_has_no_reward(task):
    (task / "solution/solve.sh").write_text("#!/bin/bash\necho wrong > answer.txt\n")
    result, _, output = run(task)
    assert result["verifier_result"]["rewards"] == {"reward": 0.0}, output


def test_a_task_that_installs_something_is_refused_unless_it_is_there(task):
    with open(task / "environment/Dockerfile", "a") as file:
        file.write("RUN apt-get update \\\n  && apt-get install -y cowsay\n")
    output = harbor(task)
    assert "belljar builds no image and cannot follow: RUN apt-get update" in output
    assert "--ek ignore_run=true" in output
    assert not list((task.parent / "jobs").rglob("reward.txt"))


def test_what_the_machine_has_need_not_be_installed(task):
    with open(task / "environment/Dockerfile", "a") as file:
        file.write("RUN apt-get install -y coreutils\n")
    result, _, output = run(task, "--ek", "ignore_run=true")
    assert result["verifier_result"]["rewards"] == {"reward": 1.0}, output
