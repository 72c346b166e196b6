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
    # The same for an attribute. Of a module of ours the library's may not be there to be compared
    # with, and a name that is computed is only known when the program runs.
    ran = run(f"import {module}\ngetattr({module}, {attribute!r})", kind=kind)
    assert f"module '{module}' has no attribute '{attribute}'" in ran.message


def test_no_hint_names_a_profile() -> None:
    # Which there are is the installation's to say: a hint that sends people to one that is not
    # there ends in a usage error.
    hints = (*ALTERNATIVES.values(), *NAME_ALTERNATIVES.values())
    assert not [hint for hint in hints if "' profile" in hint]
    assert "profile" not in assert_refused("import requests", "BJ201")["hint"]
    assert "The 'filesystem' profile has it." in assert_refused("import tempfile", "BJ201")["hint"]
    for source in ("from os import listdir", "from pathlib import Path"):
        of_name = assert_refused(source, "BJ202")
        assert "The 'filesystem' profile has it." in of_name["hint"]
        assert of_name["profile"] == "filesystem"
    finding = assert_refused("open('f')", "BJ501")
    assert "The 'filesystem' profile has open()." in finding["hint"]
    assert finding["profile"] == "filesystem"


def test_of_what_is_unknown_a_hint_names_what_is_alike() -> None:
    ran = run("import numpy\nimport mine\nimport maths\nimport termios\nimport polyglot.text\n")
    hints = [finding["hint"] for finding in ran.findings]
    assert hints[0] == "The 'data-science' profile has it."
    unknown = (
        "{!r} is not installed here. A module of your own: its file must come with the program."
    )
    assert hints[1] == unknown.format("mine")
    assert hints[2] == "Did you mean 'math'?"
    assert hints[3] == "No module here has a similar name."  # the library's own, on this system
    assert hints[4] == unknown.format("polyglot")


def test_of_a_missing_package_there_is_one_finding() -> None:
    ran = run("import werkzeug.http\nfrom werkzeug import x\nimport flask\nimport werkzeug\n")
    assert [(each["rule"], each["line"]) for each in ran.findings] == [("BJ201", 1), ("BJ201", 3)]
    # Of the library's modules and of those that other profiles have, each is named where it stands.
    ran = run("import socket\nimport socket\nimport numpy\nimport numpy.linalg\n")
    assert [each["line"] for each in ran.findings] == [1, 2, 3, 4]


def test_a_package_that_is_not_installed_is_said_to_be_just_that() -> None:
    assert assert_refused("import openpyxl", "BJ201")["hint"].startswith(
        "'openpyxl' is not installed here. "
    )
    hint = assert_refused("import requests", "BJ201")["hint"]
    assert (
        hint == "'requests' is not installed here. The network is not available; pass the data "
        "as standard input."
    )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(a): pass\nf.__code__.co_argcount", "inspect.signature(f).parameters"),
        ("try: 1/0\nexcept Exception as e: e.__traceback__.tb_frame", "traceback.format_exc()"),
        ("(x for x in []).gi_frame", "inspect.getgeneratorstate"),
        ("(lambda: 0).func_code", "Python 2"),
    ],
)
def test_an_attribute_of_the_interpreter_has_another_way(source: str, words: str) -> None:
    assert words in " ".join(finding["hint"] for finding in run(source).findings)


def test_of_what_a_program_puts_into_sys_modules_imports_know_nothing() -> None:
    made = "import sys, types\nsys.modules['dyn'] = types.ModuleType('dyn')\n"
    said = "What a program puts into sys.modules, imports do not find"
    for source in ("import dyn", "from dyn.part import x"):
        assert said in assert_refused(made + source, "BJ201", 3)["hint"]
    assert said not in assert_refused(made + "import other", "BJ201", 3)["hint"]


def test_facts_of_the_machine_are_withheld_for_a_reason() -> None:
    (finding,) = run("import os\nos.getloadavg()").findings
    assert finding["hint"] == (
        "A program learns nothing of the load and the settings of the machine that it runs on."
    )


WITHHELD = "import gc, sys\n"


@pytest.mark.parametrize(
    "source",
    [
        "gc.get_objects()",
        "def later():\n    return gc.get_objects()",
        "import xml.etree.ElementTree as ET\nET.XMLPullParser",
        "import xml.etree.ElementTree\nxml.etree.ElementTree.XMLPullParser",
        "sys.settrace(None)",
    ],
)
def test_a_withheld_name_is_found_before_the_program_runs(source: str) -> None:
    ran = run(WITHHELD + "print('began')\n" + source)
    assert ran.rules == ["BJ202"] and ran.stdout == ""


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    gc.get_objects()\nexcept AttributeError: pass",
        "if hasattr(gc, 'get_objects'):\n    gc.get_objects()",
        "if sys.platform == 'win32':\n    sys.getwindowsversion(), sys.settrace",
        "x = hasattr(gc, 'get_objects') and gc.get_objects()",
        "def f(gc):\n    return gc.get_objects\n",
        "class gc: get_objects = 1\ngc.get_objects",
        "for gc in []: gc.get_objects",
        "gc = sys\nsys.no_such_name if 0 else None",
    ],
)
def test_a_name_that_the_program_can_do_without_is_not(source: str) -> None:
    ran = run(WITHHELD + source)
    assert ran.rules == [] and ran.error is None, (ran.findings, ran.message)


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
