"""The hint for a missing module names an available one."""

from __future__ import annotations

import datetime  # noqa: F401 (looked up by name)
import re
import runpy
import sys
from pathlib import Path

import pytest
from profile_document import read_profile

from tests.policy.harness import assert_refused, run

ROOT = Path(__file__).resolve().parents[2]
TABLES = runpy.run_path(str(ROOT / "policy/belljar_policy/alternatives.py"))
ALTERNATIVES, NAME_ALTERNATIVES = TABLES["ALTERNATIVES"], TABLES["NAME_ALTERNATIVES"]
MODULES = read_profile(ROOT / "profiles/basic.toml")["modules"]
WITH_FILES = read_profile(ROOT / "profiles/filesystem.toml")["modules"]


@pytest.mark.parametrize("module", sorted(ALTERNATIVES))
def test_the_module_is_not_here_and_the_hint_says_what_is(module: str) -> None:
    finding = assert_refused(f"import {module}", "BJ201")
    # Of another profile's module the profile is named first.
    assert ALTERNATIVES[module] in finding["hint"] or "profile has it" in finding["hint"]


@pytest.mark.parametrize("name", sorted(NAME_ALTERNATIVES))
def test_the_name_is_not_here_and_the_hint_says_what_to_do(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    kind = "restricted" if module in MODULES else "restricted:filesystem"
    (finding,) = run(f"from {module} import {attribute}", kind=kind).findings
    assert finding["rule"] == "BJ202"
    assert NAME_ALTERNATIVES[name] in finding["hint"]
    # Of a module of ours the library's may not be there to be compared with.
    ran = run(f"import {module}\ngetattr({module}, {attribute!r})", kind=kind)
    assert f"module '{module}' has no attribute '{attribute}'" in ran.message


def test_no_hint_names_a_profile() -> None:
    # Which there are is the installation's to say: a hint that sends people to one that is not
    # there ends in a usage error.
    hints = (*ALTERNATIVES.values(), *NAME_ALTERNATIVES.values())
    assert not [hint for hint in hints if "' profile" in hint]
    assert "profile" not in assert_refused("import requests", "BJ201")["hint"]
    assert "The 'filesystem' profile has it." in assert_refused("import pathlib", "BJ201")["hint"]
    of_os = assert_refused("from os import listdir", "BJ202")
    assert "The 'filesystem' profile has it." in of_os["hint"]
    finding = assert_refused("open('f')", "BJ501")
    assert "The 'filesystem' profile has open()." in finding["hint"]
    assert finding["profile"] == "filesystem"


def test_what_there_is_is_listed_once() -> None:
    ran = run("import numpy\nimport mine\nimport maths\n")
    hints = [finding["hint"] for finding in ran.findings]
    assert ["Available modules: " in hint for hint in hints] == [True, False, False]
    assert hints[1:] == [
        "A program is a single file: include what it needs from this module.",
        "Did you mean 'math'?",
    ]


@pytest.mark.parametrize("hint", sorted({*ALTERNATIVES.values(), *NAME_ALTERNATIVES.values()}))
def test_what_the_hint_names_exists(hint: str) -> None:
    for module, name in re.findall(r"\b([a-z]+)\.([a-z_A-Z]+)\b", hint):
        if f"{module}.{name}" not in MODULES and module != "xml":
            found = WITH_FILES[module]["exports"]
            assert name in found or hasattr(getattr(sys.modules[module], module, None), name)
    # "Use json or configparser": modules, or names of a module, which were checked above.
    if found := re.fullmatch(r"Use ([\w.]+)(?: or ([\w.]+))?", hint):
        for name in filter(None, found.groups()):
            assert name in MODULES or name.rpartition(".")[0] in {*MODULES, *WITH_FILES}, name
