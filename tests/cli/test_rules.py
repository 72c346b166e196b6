"""belljar rules: the list, one rule, and what a program reads."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

# The package itself needs its guards, which are no business of the command's tests.
TABLE = Path(__file__).parents[2] / "policy/belljar_policy/rules.py"
RULES = runpy.run_path(str(TABLE))["RULES"]


def test_the_list_has_every_rule_once(belljar):
    done = belljar("rules")
    assert (done.code, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("  BJ")]
    assert [(row[0], row[1]) for row in rows] == [
        (rule, RULES[rule].name) for rule in sorted(RULES)
    ]
    assert done.stdout.startswith("Source\n  BJ001  syntax-error ")


@pytest.mark.parametrize("word", ["BJ201", "bj201", "import-not-allowed"])
def test_one_rule_is_explained(belljar, word):
    done = belljar("rules", word)
    assert done.code == 0
    title, _, rest = done.stdout.partition("\n")
    assert title == "BJ201 import-not-allowed"
    assert "\nRefused\n    import socket\n" in rest
    assert "\nWrite instead\n    try:\n" in rest
    assert max(map(len, rest.splitlines())) <= 100


def test_several_rules_and_groups_come_in_order_and_once(belljar):
    found = json.loads(belljar("rules", "BJ501", "BJ0", "bj001", "--json").stdout)["rules"]
    assert [rule["id"] for rule in found] == ["BJ001", "BJ002", "BJ003", "BJ004", "BJ501"]


def test_every_rule_as_json(belljar):
    found = json.loads(belljar("rules", "--json").stdout)["rules"]
    assert [rule["id"] for rule in found] == sorted(RULES)
    for rule in found:
        ours = RULES[rule["id"]]
        assert (rule["name"], rule["title"], rule["when"]) == (ours.name, ours.title, ours.when)
        assert (rule["why"], rule["bad"] or "", rule["good"] or "") == (
            ours.why,
            ours.bad,
            ours.good,
        )
        assert rule["hint"] is None or "{" not in rule["hint"]
    assert found[-1]["group"] == "builtins"


@pytest.mark.parametrize(
    ("word", "says"),
    [("BJ20l", 'did you mean "BJ20'), ("import-not-alowed", 'did you mean "import-not-allowed"?')],
)
def test_an_unknown_rule(belljar, word, says):
    done = belljar("rules", word)
    assert (done.code, done.stdout) == (2, "")
    assert says in done.stderr and "belljar rules lists them all" in done.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "No such file or directory"),
        ("[{", "it is not a JSON array"),
        ("{}", "it is not a JSON array"),
        ("[1]", "a rule has no ID or name"),
        ('[{"id": "BJ001", "name": 7}]', "a rule has no ID or name"),
    ],
)
def test_an_installation_without_its_rules_says_so(program, tmp_path, text, says):
    installed = tmp_path / "belljar"
    try:
        os.link(program, installed)
    except OSError:  # another file system
        shutil.copy(program, installed)
    (tmp_path / "belljar-zygote").write_text("")
    share = tmp_path / "share/belljar"
    share.mkdir(parents=True)
    if text is not None:
        (share / "rules.json").write_text(text)
    done = subprocess.run([installed, "rules"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (5, "")
    assert "rules.json" in done.stderr and says in done.stderr
