"""docs/pipelines.md: its examples are what the command prints, its tables what is there."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.documentation.conftest import BELLJAR, ROOT, environment, names, page, section, table

PAGE = page("docs/pipelines.md")
FORMS = ("text", "json", "sarif", "github", "gitlab", "junit")


def block(text: str, language: str) -> str:
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)[1]


def validate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # No pipeline's variables: paths would begin elsewhere.
    variables = environment(GITHUB_WORKSPACE="", CI_PROJECT_DIR="")
    return subprocess.run(
        [BELLJAR, "validate", *arguments],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def example(tmp_path) -> Path:
    (tmp_path / "table.py").write_text(block(section(PAGE, "Output formats"), "python"))
    return tmp_path


def test_the_page_has_every_form():
    found = re.search(r"--format (\S+\|\S+)", validate(ROOT, "--help").stdout)[1]
    assert sorted(found.split("|")) == sorted(FORMS)


@pytest.mark.parametrize("form", FORMS)
def test_the_example_is_current(example, form):
    done = validate(example, "--format", form, "table.py")
    assert done.returncode == 1
    shown = section(PAGE, form)
    if form in ("json", "gitlab"):
        assert json.loads(block(shown, "json")) == json.loads(done.stdout)
    elif form == "sarif":
        (result,) = json.loads(done.stdout)["runs"][0]["results"]
        assert json.loads(block(shown, "json")) == result
    else:
        assert block(shown, "xml" if form == "junit" else "text") == done.stdout


def test_yaml_blocks_parse_and_name_what_there_is():
    blocks = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S)
    hook, steps, job = (yaml.safe_load(text) for text in blocks)
    (manifest,) = yaml.safe_load(page(".pre-commit-hooks.yaml"))
    assert hook["repos"][0]["hooks"] == [{"id": manifest["id"]}]
    assert set(steps[1]["with"]) <= set(yaml.safe_load(page("action.yml"))["inputs"])
    (script,) = job["belljar"]["script"]
    assert script.endswith(job["belljar"]["artifacts"]["reports"]["codequality"])


def test_inputs_of_the_action():
    action = yaml.safe_load(page("action.yml"))
    rows = table(section(PAGE, "GitHub"), "input", "meaning", "default")
    assert sorted(name for row in rows for name in names(row[0])) == sorted(action["inputs"])
    for row in rows:
        for value in names(row[2]):
            assert value == action["inputs"][names(row[0])[0]]["default"], row
    outputs = re.search(r"^Outputs: (.*?)\. ", PAGE, re.M | re.S)[1]
    assert sorted(names(outputs)) == sorted(action["outputs"])


def test_keys_of_the_configuration(example):
    shown = validate(example, "--show-config").stdout
    keys = re.findall(r"^(?:# )?([a-z-]+) (?:=|is not set)", shown, re.M)
    defaults = tomllib.loads(shown)["validate"]
    rows = table(section(PAGE, "Configuration"), "key", "type", "meaning", "default")
    assert sorted(names(row[0])[0] for row in rows) == sorted(keys)
    for row in rows:
        (key,) = names(row[0])
        for value in names(row[3]):
            quoted = json.dumps(value) if row[1] == "text" else value
            assert tomllib.loads(f"x = {quoted}")["x"] == defaults[key], key


def test_the_configuration_that_is_shown_is_accepted(example):
    text = block(section(PAGE, "Configuration"), "toml")
    assert tomllib.loads(text)
    (example / "belljar.toml").write_text(text)
    known = validate(example, "table.py", "--write-baseline", "belljar-baseline.json")
    assert known.returncode == 0, known.stderr
    done = validate(example, "table.py")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    # Each key is in force; the page's own is too.
    shown = validate(example, "--show-config").stdout
    for key, value in tomllib.loads(text)["validate"].items():
        assert key in shown and "belljar.toml:" in shown, (key, value)


def test_the_comment_that_is_shown_suppresses_where_it_is_allowed(example):
    text = block(section(PAGE, "Baselines and ignore comments"), "python")
    (example / "commented.py").write_text(text)
    assert validate(example, "commented.py").returncode == 1
    (example / "belljar.toml").write_text("[validate]\nallow-ignore-comments = true\n")
    assert validate(example, "commented.py").returncode == 0
    # Nothing that lies beside the code decides.
    assert validate(example, "commented.py", "--isolated").returncode == 1
