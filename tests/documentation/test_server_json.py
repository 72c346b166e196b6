"""server.json: what registries are told agrees with the program."""

import json
import re
import subprocess

import pytest

from tests.documentation.conftest import BELLJAR, ROOT, environment, page
from tests.documentation.test_clients import lists_tools

METADATA = json.loads(page("server.json"))
OURS = METADATA["_meta"]["io.modelcontextprotocol.registry/publisher-provided"]


def test_the_version_is_the_projects():
    project = re.search(r"project\(belljar VERSION ([\d.]+) ", page("CMakeLists.txt"))
    assert METADATA["version"] == project[1]
    done = subprocess.run([BELLJAR, "--version"], capture_output=True, text=True, check=True)
    assert project[1] in done.stdout


def test_it_has_the_form_that_registries_ask_for():
    # https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
    assert set(METADATA) == {"$schema", "name", "title", "description", "version", "_meta"}
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", METADATA["name"])
    assert 1 <= len(METADATA["description"]) <= 100
    assert 1 <= len(METADATA["title"]) <= 100


def test_the_licence_is_the_projects():
    assert OURS["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_both_transports_are_what_the_command_gives():
    stdio, http = OURS["transports"]
    assert lists_tools([OURS["command"], *stdio["arguments"]])
    assert http["url"] == f"http://{http['arguments'][-1]}/mcp"
    done = subprocess.run(
        [BELLJAR, *http["arguments"], "--check"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
        timeout=60,
    )
    assert http["url"] in done.stderr


@pytest.mark.parametrize("variable", OURS["environmentVariables"], ids=lambda each: each["name"])
def test_a_variable_is_known_and_its_values_are_taken(variable, tmp_path):
    values = variable.get("choices") or [variable.get("default") or variable.get("placeholder")]
    if variable.get("isSecret"):
        values = ["0123456789abcdef" * 2]
    elif variable.get("format") == "filepath":
        file = tmp_path / "file"
        file.write_text("" if "CONFIG" in variable["name"] else "0123456789abcdef" * 2)
        file.chmod(0o600)
        values = [str(file)]
    for value in values:
        done = subprocess.run(
            [BELLJAR, "config", "--json"],
            capture_output=True,
            text=True,
            check=True,
            env=environment(**{variable["name"]: value}),
            timeout=60,
        )
        loaded = json.loads(done.stdout)
        assert not loaded["warnings"]
        # It is where something is from: a setting, a token, or the file itself.
        told = json.dumps([each["source"] for each in loaded["settings"]])
        told += json.dumps([each["from"] for each in loaded["tokens"]]) + str(loaded["file"])
        assert variable["name"] in told or value in told, done.stdout


def test_defaults_are_those_of_a_call():
    done = subprocess.run(
        [BELLJAR, "info", "--json"], capture_output=True, check=True, timeout=60, env=environment()
    )
    (basic,) = (each for each in json.loads(done.stdout)["profiles"] if each["name"] == "basic")
    limits = basic["limits"]["default"]
    said = {each["name"]: each.get("default") for each in OURS["environmentVariables"]}
    assert float(said["BELLJAR_EXECUTION_TIMEOUT"]) == limits["timeout"]
    assert said["BELLJAR_EXECUTION_MEMORY"] == f"{limits['memory_bytes'] >> 20}m"
