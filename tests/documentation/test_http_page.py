"""docs/http.md says what the HTTP API does."""

import json
import re
import urllib.request

import http_reference
import pytest

from tests.documentation.conftest import names, page, serving, shell, shows, table

PAGE = page("docs/http.md")
WALK = re.findall(r"```sh\n([^`]*?)```\n```text\n(.*?)```", PAGE, re.DOTALL)
STATES = {"queued", "running", "succeeded", "failed", "cancelled", "interrupted", "expired"}


def started(folder, *more):
    jobs, audit = str(folder / "jobs" / "jobs.db"), str(folder / "audit")
    options = ("--jobs", jobs, "--audit", "--audit-folder", audit)
    return serving(folder / "log.txt", *options, *more)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with started(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    """The OpenAPI document of a server that has all operations."""
    with started(tmp_path_factory.mktemp("api"), "--languages", "bash,shell") as address:
        with urllib.request.urlopen(f"http://{address}/openapi.json", timeout=60) as response:
            yield json.load(response)


def test_the_walk_has_steps():
    assert len(WALK) == 6
    assert all("127.0.0.1:9015" in commands for commands, _ in WALK)


@pytest.mark.parametrize(("commands", "expected"), WALK, ids=range(len(WALK)))
def test_a_step_prints_what_is_below_it(server, commands, expected, tmp_path):
    done = shell(commands.replace("127.0.0.1:9015", server), tmp_path)
    assert done.returncode == 0 and shows(expected, done.stdout), done.stdout


def test_the_table_has_every_operation(api):
    listed = {
        operation["operationId"]: (f"{method.upper()} {path}", operation["summary"])
        for path, methods in api["paths"].items()
        for method, operation in methods.items()
    }
    rows = table(PAGE, "operation", "request", "what it does")
    shown = {names(row[0])[0]: (names(row[1])[0], row[2]) for row in rows}
    assert shown == listed


def test_the_reference_is_current(api):
    reference = page("docs/http-reference.md")
    command = "python3 tools/http_reference.py build/release/belljar --write"
    assert http_reference.made(api) == reference, f"run: {command}"
    api["paths"]["/v1/limits"]["patch"]["summary"] = "Something else"
    assert http_reference.made(api) != reference


def test_every_state_is_in_the_table(server):
    with urllib.request.urlopen(f"http://{server}/openapi.json", timeout=60) as response:
        job = json.load(response)["components"]["schemas"]["Job"]
    listed = set(job["properties"]["state"]["enum"])
    assert {names(row[0])[0] for row in table(PAGE, "state", "meaning")} == listed == STATES


def test_every_problem_is_in_the_table(server):
    with urllib.request.urlopen(f"http://{server}/openapi.json", timeout=60) as response:
        paths = json.load(response)["paths"]
    documented = {
        status
        for methods in paths.values()
        for operation in methods.values()
        for status in operation["responses"]
        if status >= "400"
    }
    rows = {status for row in table(PAGE, "status", "when") for status in row[0].split(", ")}
    # Without a token there is none to be wrong, and what has a path has its methods.
    assert documented | {"401", "405"} == rows
