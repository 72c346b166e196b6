"""--policy on|off, execution.policy and a profile's policy; and their names of belljar 0.1, which
were about a language: each is still accepted, and what contradicts is named."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Done
from tests.cli.test_audit import pre_authentication
from tests.cli.test_config import config, settings

__all__ = ["config", "settings"]

Belljar = Callable[..., Done]
REACHING = "import sys\nprint(sys._getframe() is not None)"  # needs the policy to be off
OWN = 'schema = 1\nname = "own"\nextends = "basic"\nsummary = "s"\n{}\n[modules]\n'
OFF = {"policy": "off", "language": "full"}
ON = {"policy": "on", "language": "restricted"}


def isolation(belljar: Belljar, *options: str, code: str = "1") -> dict[str, str]:
    done = belljar("run", "--json", *options, "-c", code)
    shown = json.loads(done.out)["isolation"]
    return {name: shown[name] for name in ("policy", "language")}


@pytest.mark.parametrize(
    ("options", "is_off"),
    [
        (["--policy", "off"], True),
        (["--language", "full"], True),
        (["--policy", "off", "--language", "full"], True),
        (["--policy", "off", "--language", "python"], True),
        ([], False),
        (["--policy", "on"], False),
        (["--language", "python"], False),
        (["--language", "restricted"], False),
    ],
    ids=str,
)
def test_run(belljar: Belljar, options: list[str], is_off: bool) -> None:
    assert isolation(belljar, *options) == (OFF if is_off else ON)
    done = belljar("run", *options, "-c", REACHING)
    assert (done.code, done.stdout) == ((0, "True\n") if is_off else (1, ""))


@pytest.mark.parametrize("option", [["--policy", "off"], ["--language", "full"]], ids=" ".join)
def test_repl(belljar: Belljar, option: list[str]) -> None:
    basic = ("repl", "--profile", "basic")  # else with all packages that are installed
    assert belljar(*basic, *option, stdin=REACHING.encode()).stdout == "True\n"
    assert "True" not in belljar(*basic, stdin=REACHING.encode()).stdout


def test_repl_names_what_contradicts(belljar: Belljar) -> None:
    done = belljar("repl", "--policy", "off", "--language", "restricted", stdin=b"1\n")
    assert (done.code, done.stdout) == (2, "")
    assert "--policy off and --language restricted contradict each other" in done.stderr


def test_help_has_the_new_name_alone(belljar: Belljar) -> None:
    shown = belljar("serve", "--help").stdout
    assert "--policy" in shown
    assert "--language " not in shown


# --- settings -----------------------------------------------------------------------------------


def test_each_way_to_set_it(settings: Callable[..., dict], tmp_path: Path) -> None:
    file = tmp_path / "a.toml"

    def policy(*arguments: str, text: str = "", **environment: str) -> str:
        file.write_text(text)
        return settings("--config", str(file), *arguments, **environment)["execution.policy"][
            "value"
        ]

    assert policy() == "on"
    assert policy(text='[execution]\npolicy = "off"') == "off"
    assert policy(text='[execution]\nlanguage = "full"') == "off"
    assert policy(text='[execution]\nlanguage = "restricted"') == "on"
    assert policy(BELLJAR_EXECUTION_POLICY="off") == "off"
    assert policy(BELLJAR_EXECUTION_LANGUAGE="full") == "off"
    # A name of 0.1 is worth as much as the new one: what is of higher precedence counts.
    both = '[execution]\nlanguage = "full"'
    assert policy(text=both, BELLJAR_EXECUTION_POLICY="on") == "on"
    (tmp_path / ".env").write_text("BELLJAR_EXECUTION_LANGUAGE=full\n")
    assert policy("--env-file", str(tmp_path / ".env")) == "off"


def test_a_former_name_is_told_its_new_one(config: Callable, tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('[execution]\nlanguage = "full"\n')
    done = config("--config", str(file))
    assert done.returncode == 0
    assert (
        f'warning: {file}:2: execution.language: it is now execution.policy = "off"' in done.stderr
    )
    done = config(BELLJAR_EXECUTION_LANGUAGE="restricted")
    assert 'BELLJAR_EXECUTION_LANGUAGE: it is now execution.policy = "on"' in done.stderr
    file.write_text('[execution]\npolicy = "off"\n')
    assert config("--config", str(file)).stderr == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('policy = "offf"', 'execution.policy "offf": write one of on|off; did you mean "off"?'),
        (
            'language = "perl"',
            'execution.language "perl": it is now execution.policy: write one of on|off there, or '
            "one of restricted, full here",
        ),
        ("language = 1", "execution.language 1: write a quoted string"),
        (
            'policy = "on"\nlanguage = "full"',
            'execution.language "full": it contradicts ',
        ),
    ],
    ids=["unknown", "former unknown", "type", "contradiction"],
)
def test_what_is_wrong_with_a_file(config: Callable, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.toml").write_text("[execution]\n" + text + "\n")
    done = config("--config", "a.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.parametrize("flag", [["--policy", "off"], ["--language", "full"]], ids=" ".join)
def test_serve(config: Callable, flag: list[str]) -> None:
    """With the policy off there are no imports to restrict, which shows that the flag was taken."""
    words = ("--check", "--allow-import", "math")
    assert config(*words, command="serve").returncode == 0
    done = config(*words, *flag, command="serve")
    assert done.returncode == 2
    assert "restricts the language policy, which execution.policy off disables" in done.stderr
    assert config("--check", "--language", "python", command="serve").returncode == 0


# --- profile files ------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ['policy = "off"', 'language = "full"'])
def test_a_profile_file(belljar: Belljar, tmp_path: Path, line: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.format(""))
    assert isolation(belljar, "--profile", str(own)) == ON
    own.write_text(OWN.format(line))
    assert isolation(belljar, "--profile", str(own)) == OFF
    assert belljar("run", "--profile", str(own), "-c", REACHING).stdout == "True\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('policy = "none"', '"policy" may only be "off"'),
        ('policy = "on"', '"policy" may only be "off"'),
        ('language = "restricted"', '"language" may only be "full"'),
        ('policy = "off"\nlanguage = "restricted"', '"language" may only be "full"'),
    ],
)
def test_what_is_wrong_with_a_profile_file(
    belljar: Belljar, tmp_path: Path, line: str, said: str
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.format(line))
    done = belljar("run", "--profile", str(own), "-c", "1")
    assert done.code == 2
    assert said in done.stderr


# --- receipts -----------------------------------------------------------------------------------


def signed(payload: bytes, kind: str, key: Path, folder: Path) -> str:
    (folder / "to-sign").write_bytes(pre_authentication(kind, payload))
    done = subprocess.run(
        ["openssl", "pkeyutl", "-sign", "-inkey", key, "-rawin", "-in", folder / "to-sign"],
        capture_output=True,
        check=True,
    )
    return base64.b64encode(done.stdout).decode()


@pytest.mark.parametrize(("former", "policy"), [("full", "off"), ("restricted", "on")])
def test_a_receipt_of_0_1(belljar: Belljar, tmp_path: Path, former: str, policy: str) -> None:
    environment = {"HOME": str(tmp_path), "XDG_STATE_HOME": ""}

    def run(*words: str) -> Done:
        return belljar(*words, cwd=tmp_path, env=environment)

    key = ("--receipt-key", "own.pem")
    assert run("run", "-c", "1", "--policy", policy, "--receipt", "r.json", *key).code == 0
    envelope = json.loads((tmp_path / "r.json").read_bytes())
    statement = json.loads(base64.b64decode(envelope["payload"]))
    held = statement["predicate"]["execution"]["isolation"]
    assert (held.pop("policy"), held["language"]) == (policy, former)
    payload = json.dumps(statement).encode()
    kind = envelope["payloadType"]
    envelope["payload"] = base64.b64encode(payload).decode()
    (tmp_path / "r.json").write_text(json.dumps(envelope))
    verify = ("receipt", "verify", "r.json", "--key", "own.pub")
    assert run(*verify).code == 1  # control: not what was signed
    envelope["signatures"][0]["sig"] = signed(payload, kind, tmp_path / "own.pem", tmp_path)
    (tmp_path / "r.json").write_text(json.dumps(envelope))
    done = run(*verify)
    assert done.code == 0, done.stdout
    assert f"isolation  strict, language policy {policy}; observed: " in done.stdout
