"""The profile of a program for which none is named: basic, and what is enabled and used."""

import json

import pytest

from tests.machine import need_packages

FILES = "import pathlib\npathlib.Path('a').write_text('b')\nprint(pathlib.Path('a').read_text())"
ENABLED = {"SANDBOX_ENABLE_FILESYSTEM": "true"}


@pytest.mark.parametrize(
    "env",
    [
        ENABLED,
        {"BELLJAR_EXECUTION_ENABLE_FILESYSTEM": "1", "SANDBOX_ENABLE_FILESYSTEM": "no"},
        {"BELLJAR_EXECUTION_PROFILES": "basic, filesystem"},
    ],
    ids=["familiar", "own", "list"],
)
def test_an_enabled_profile_is_there_for_a_program_that_uses_it(belljar, env):
    done = belljar("run", "-c", FILES, env=env)
    assert (done.code, done.stdout) == (0, "b\n"), done.stderr


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"SANDBOX_ENABLE_FILESYSTEM": "false"},
        {"BELLJAR_EXECUTION_PROFILES": "basic,data-science"},
        {"BELLJAR_EXECUTION_ENABLE_FILESYSTEM": "off", "SANDBOX_ENABLE_FILESYSTEM": "on"},
    ],
    ids=["nothing", "off", "other list", "own comes first"],
)
def test_others_are_refused_and_the_hint_names_the_option(belljar, env):
    done = belljar("run", "-c", FILES, env=env)
    assert done.code == 3
    assert "hint: The 'filesystem' profile has it. " in done.stderr
    assert " Add --profile filesystem.\n" in done.stderr


def test_a_program_that_needs_none_gets_none(belljar):
    done = belljar("run", "--json", "-c", "import math", env=ENABLED)
    assert json.loads(done.out)["limits"]["file_size_bytes"] == 0


def test_files_need_a_workspace(belljar, tmp_path):
    (tmp_path / "a.csv").write_text("1")
    given = ("--file", str(tmp_path / "a.csv"), "-c", "1")
    assert belljar("run", *given, env=ENABLED).code == 0
    assert belljar("run", *given).code == 2


def test_a_named_profile_is_what_it_is(belljar):
    assert belljar("run", "--profile", "basic", "-c", FILES, env=ENABLED).code == 3


@pytest.mark.parametrize(
    ("variable", "program"),
    [
        ("SANDBOX_ENABLE_NETWORK", "import urllib.request"),
        ("SANDBOX_ENABLE_FULL", "import ctypes"),
        ("BELLJAR_EXECUTION_ENABLE_FULL", "(lambda: 0).__globals__"),
    ],
)
def test_neither_a_network_nor_a_profile_without_policy_is_chosen_by_the_text(
    belljar, variable, program
):
    assert belljar("run", "-c", program, env={variable: "true"}).code == 3


def test_a_variable_that_says_nothing_is_a_usage_error(belljar):
    done = belljar("run", "-c", "1", env={"SANDBOX_ENABLE_FILESYSTEM": "perhaps"})
    assert done.code == 2
    assert 'SANDBOX_ENABLE_FILESYSTEM "perhaps": write true or false' in done.stderr


def test_installed_packages_are_enabled_by_their_installation(belljar):
    info = json.loads(belljar("info", "--json").out)
    profiles = {each["name"]: each for each in info["profiles"]}
    program = "import numpy\nprint(int(numpy.arange(5).sum()))"
    if profiles["data-science"]["missing"]:
        assert belljar("run", "-c", program).code == 3
        need_packages("data-science")
    done = belljar("run", "-c", program)
    assert (done.code, done.stdout) == (0, "10\n"), done.stderr
    done = belljar("run", "-c", program, env={"SANDBOX_ENABLE_DATA_SCIENCE": "false"})
    assert done.code == 3
    assert "Add --profile data-science." in done.stderr


def test_the_hint_keeps_the_profile_that_was_used(belljar):
    done = belljar("run", "--profile", "network", "-c", "import tempfile")
    assert "Add --profile filesystem+network." in done.stderr


# --- the profile full -----------------------------------------------------------------------------

REACHING = """
import ctypes, sys
print(ctypes.CDLL(None).getpid() > 0, sys._getframe().f_globals is globals())
"""


def test_full_has_no_language_policy_and_says_so(belljar):
    outcome = json.loads(belljar("run", "--json", "--profile", "full", "-c", REACHING).out)
    assert (outcome["status"], outcome["stdout"]) == ("ok", "True True\n"), outcome
    assert outcome["isolation"]["policy"] == "off"
    assert outcome["limits"]["processes"] == 128
    assert {each["name"] for each in outcome["isolation"]["layers"] if each["held"]} >= {
        "namespaces", "privileges", "rlimits", "landlock", "seccomp",
    }  # fmt: skip


def test_full_may_be_combined(belljar):
    done = belljar("run", "--profile", "full+filesystem", "-c", FILES + "\nimport ctypes")
    assert (done.code, done.stdout) == (0, "b\n"), done.stderr


def test_full_stays_in_the_jail(belljar):
    program = """
import os, socket
for attempt in (lambda: open('/etc/passwd'), os.fork, socket.socket, lambda: os.kill(1, 0)):
    try:
        attempt()
        print('got out')
    except OSError as error:
        print(type(error).__name__)
"""
    done = belljar("run", "--profile", "full", "-c", program)
    assert done.stdout == "FileNotFoundError\n" + 3 * "PermissionError\n", done.stderr


def test_full_has_no_imports_to_restrict(belljar):
    done = belljar("run", "--profile", "full", "--allow-import", "math", "-c", "1")
    assert done.code == 2
    assert "--allow-import has no effect with --profile full: " in done.stderr


def test_no_hint_proposes_full(belljar):
    done = belljar("run", "-c", "import ctypes")
    assert done.code == 3 and "full" not in done.stderr
