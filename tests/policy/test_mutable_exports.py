"""What modules export that could be changed in place: a program gets copies of the library's
tables, and sets attributes of no instance of the library's but those that are there to be set.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.policy.harness import assert_runs, assert_same, run, run_plain
from tools.profile_document import read_profile

ROOT = Path(__file__).resolve().parents[2]

PROFILES = ("basic", "filesystem", "network", "data-science")


def shared_exports(*arguments: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("shared_exports.py")), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("profile", PROFILES)
def test_no_container_of_the_library_is_given(profile: str) -> None:
    known = {
        "hashlib.algorithms_available",
        "hashlib.algorithms_guaranteed",
        "html.entities.codepoint2name",
        "html.entities.entitydefs",
        "html.entities.html5",
        "html.entities.name2codepoint",
    }
    assert known <= set(shared_exports(profile, "as-it-is")), "control"
    assert shared_exports(profile) == []


def test_a_table_that_is_changed_is_the_programs_alone() -> None:
    source = """
        import html, html.entities
        html.entities.html5["amp;"] = "X"
        print(html.unescape("&amp;"))
        """
    assert run_plain(source).stdout == "X\n", "control"
    assert assert_runs(source).stdout == "&\n"


def test_the_copies_are_of_the_same_types_and_can_be_changed() -> None:
    assert_same("""
        import hashlib, html.entities
        for table in (html.entities.html5, html.entities.name2codepoint,
                      html.entities.codepoint2name, html.entities.entitydefs):
            table["mine"] = "mine"
            print(type(table), len(table), table["mine"])
        print(html.entities.html5["gt;"], sorted(hashlib.algorithms_guaranteed))
        hashlib.algorithms_available.add("mine")
        print("mine" in hashlib.algorithms_available, type(hashlib.algorithms_available))
        """)


SETTINGS = {
    "decimal.BasicContext", "decimal.DefaultContext", "decimal.ExtendedContext",
    "logging.lastResort", "logging.root", "unittest.defaultTestLoader",
    # The program's own, as all of unittest.mock is.
    "unittest.mock.ANY", "unittest.mock.DEFAULT", "unittest.mock.call", "unittest.mock.sentinel",
}  # fmt: skip
"""Instances that are there to be set, none of which the policy or the runner looks at."""

_TRY = """
kinds = (type, type(print), type(lambda: 0), type(sys))
writable = set()
for module in modules:
    for name in dir(module):
        value = getattr(module, name, None)
        if name[0] == "_" or type(value) in kinds:
            continue
        for each in [*dir(value), "planted"]:
            if each[0] == "_":
                continue
            try:
                setattr(value, each, getattr(value, each, None))
            except (AttributeError, TypeError, ValueError):
                continue
            writable.add(module.__name__ + "." + name)
print(sorted(writable))
"""


@pytest.mark.parametrize("profile", ["basic", "filesystem"])
def test_no_other_instance_can_be_written_to(profile: str) -> None:
    modules = sorted(read_profile(ROOT / "profiles" / f"{profile}.toml")["modules"])
    modules = [name for name in modules if name != "sys"]  # its streams are the program's
    listed = ", ".join(modules)
    source = f"import sys\nimport {listed}\nmodules = [{listed}]\n{_TRY}"
    ran = run(source, kind=f"restricted:{profile}")
    assert not ran.findings, ran.findings
    assert ran.error is None, ran.traceback
    found = set(json.loads(ran.stdout.replace("'", '"')))
    assert "decimal.DefaultContext" in found, "control"
    assert found <= SETTINGS, found - SETTINGS
