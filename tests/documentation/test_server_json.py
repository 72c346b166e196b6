"""server.json: what registries are told agrees with the program."""

import json
import re
import subprocess

import pytest

from tests.documentation.conftest import BELLJAR, ROOT, environment, page
from tests.documentation.test_clients import lists_tools

METADATA = json.loads(page("server.json"))
OURS = METADATA["_meta"]["io.modelcontextprotocol.registry/publisher-provided"]
PYPI, OCI = METADATA["packages"]
VARIABLES = [*PYPI["environmentVariables"], *OCI["environmentVariables"]]


def test_the_version_is_the_projects():
    project = re.search(r"project\(belljar VERSION ([\d.]+) ", page("CMakeLists.txt"))
    assert METADATA["version"] == PYPI["version"] == project[1]
    assert OCI["identifier"].endswith(f"/belljar:{project[1]}")
    done = subprocess.run([BELLJAR, "--version"], capture_output=True, text=True, check=True)
    assert project[1] in done.stdout


def test_it_has_the_form_that_registries_ask_for():
    # The registry's schema (2025-12-11), and what it asks of publishers beyond that.
    assert set(METADATA) == {
        "$schema", "name", "title", "description", "repository", "version", "packages", "_meta"
    }  # fmt: skip
    assert re.fullmatch(r"io\.github\.[a-zA-Z0-9-]+/belljar", METADATA["name"])
    assert 1 <= len(METADATA["description"]) <= 100
    assert 1 <= len(METADATA["title"]) <= 100
    for package in METADATA["packages"]:
        assert package["transport"] == {"type": "stdio"}
        for argument in package["packageArguments"]:
            assert argument["value"]
            assert argument["type"] == "positional" or argument["name"].startswith("--")


def test_owner_is_the_same_everywhere():
    """The registry compares them: see CONTRIBUTING.md, "Releases"."""
    name = METADATA["name"]
    owner = name.removeprefix("io.github.").removesuffix("/belljar")
    assert METADATA["repository"]["url"].endswith(f"/{owner}/belljar")
    assert f"/{owner}/belljar:" in OCI["identifier"]
    # What the package on PyPI and the image show, so that nobody else can claim them.
    assert f"\n<!-- mcp-name: {name} -->\n" in page("README.md")
    assert f'io.modelcontextprotocol.server.name="{name}"' in page("deploy/Dockerfile")


def test_the_licence_is_the_projects():
    assert OURS["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def arguments_of(package: dict) -> list[str]:
    words = []
    for argument in package["packageArguments"]:
        words += [argument["name"]] if argument["type"] == "named" else []
        words.append(argument["value"])
    return words


@pytest.mark.parametrize("package", [PYPI, OCI], ids=lambda each: each["registryType"])
def test_each_package_serves_over_stdio(package):
    fixed = {
        each["name"]: each["value"] for each in package["environmentVariables"] if "value" in each
    }
    # The image would serve over HTTP.
    assert ("BELLJAR_HTTP_LISTEN=" in page("deploy/Dockerfile")) and (package is PYPI or fixed)
    assert lists_tools(["belljar", *arguments_of(package)], **fixed)


@pytest.mark.parametrize(
    "variable", [each for each in VARIABLES if "value" not in each], ids=lambda each: each["name"]
)
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
    for package in METADATA["packages"]:
        said = {each["name"]: each.get("default") for each in package["environmentVariables"]}
        assert float(said["BELLJAR_EXECUTION_TIMEOUT"]) == limits["timeout"]
        assert said["BELLJAR_EXECUTION_MEMORY"] == f"{limits['memory_bytes'] >> 20}m"
