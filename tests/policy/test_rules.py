"""Each rule refuses its bad example, lets its good one run, and has a current page."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.policy.harness import assert_runs, run

ROOT = Path(__file__).resolve().parents[2]
RULES = runpy.run_path(str(ROOT / "policy/belljar_policy/rules.py"))["RULES"]
SOURCES = [*ROOT.glob("policy/**/*.py"), *ROOT.glob("engine/inside/**/*.py")]
SOURCES += [*ROOT.glob("engine/inside/guards/*.cc"), *ROOT.glob("cli/**/*.cc")]
# What no source of Python 3.11 shows, or what is not the source's but the call's.
WITHOUT_EXAMPLE = {"BJ003", "BJ004", "BJ205", "BJ206", "BJ401"}


@pytest.mark.parametrize("rule_id", [rule_id for rule_id in RULES if RULES[rule_id].bad])
def test_the_bad_example_is_refused(rule_id: str) -> None:
    rule = RULES[rule_id]
    ran = run(rule.bad)
    if rule_id in ("BJ001", "BJ002"):
        assert ran.error == "SyntaxError"
    elif rule.when == "run":
        assert not ran.findings
        assert ran.message.startswith(f"[{rule_id}] "), (ran.error, ran.message)
    else:
        assert ran.rules == [rule_id]


@pytest.mark.parametrize("rule_id", [rule_id for rule_id in RULES if RULES[rule_id].good])
def test_the_good_example_runs(rule_id: str) -> None:
    assert_runs(RULES[rule_id].good)


def test_only_rules_that_no_program_can_show_have_no_example() -> None:
    assert {rule_id for rule_id, rule in RULES.items() if not rule.bad} == WITHOUT_EXAMPLE


def test_texts() -> None:
    for rule_id, rule in RULES.items():
        assert re.fullmatch(r"BJ\d{3}", rule_id)
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name), rule_id
        assert rule.title and not rule.title.endswith("."), rule_id
        assert rule.why.endswith("."), rule_id
        assert rule.hint.endswith((".", "}")), rule_id
        assert "{" not in rule.general_hint, rule_id
    assert len({rule.name for rule in RULES.values()}) == len(RULES)
    assert list(RULES) == sorted(RULES)


def test_every_id_in_the_sources_is_a_rule() -> None:
    used = {rule_id for path in SOURCES for rule_id in re.findall(r"\bBJ\d{3}\b", path.read_text())}
    assert used == set(RULES)


def test_the_page_is_current() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/rules_page.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
