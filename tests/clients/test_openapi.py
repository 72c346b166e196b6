"""/openapi.json, as a public fuzzer of APIs reads it: requests made from the document, valid and
not, are answered as it says; and none is answered with another error of the server's."""

import json
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.clients.server import TOKEN, HttpServer

# A valid body may name a module that its profile does not have.
LEFT_OUT = "positive_data_acceptance"
EXAMPLES = 6
# Every operation is there, and its token may do everything.
EVERYTHING = """
[execution]
profile = "filesystem"
[jobs]
store = "jobs/jobs.db"
[audit]
enabled = true
folder = "audit"
[[tokens]]
name = "operator"
file = "token"
operator = true
"""


@pytest.fixture(scope="module", params=["open", "everything"])
def server(request, sealed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("openapi")
    arguments = ["--profile", "filesystem"]
    if request.param == "everything":
        (folder / "token").touch(mode=0o600)
        (folder / "token").write_text(TOKEN)
        (folder / "belljar.toml").write_text(EVERYTHING)
        arguments = ["--config", str(folder / "belljar.toml")]
    server = HttpServer(folder / "log.txt", arguments=arguments)
    server.token = TOKEN if request.param == "everything" else None
    yield server
    server.stop()


def base(server: HttpServer) -> str:
    return server.url.removesuffix("/mcp")


def test_the_document_is_valid(build: Path, server: HttpServer):
    request = urllib.request.Request(f"{base(server)}/openapi.json", headers=server.headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        document = response.read()
    check = "import json, sys, jsonschema_rs\n"
    check += "document = json.load(sys.stdin)\n"
    check += "for schema in document['components']['schemas'].values():\n"
    check += "    jsonschema_rs.meta.validate({'$schema': "
    check += "'https://json-schema.org/draft/2020-12/schema'} | schema)\n"
    done = subprocess.run(
        [build / "venv-clients/bin/python", "-c", check],
        input=document,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(document)["openapi"].startswith("3.1.")


def test_the_server_does_what_the_document_says(build: Path, server: HttpServer, tmp_path: Path):
    arguments = [build / "venv-clients/bin/schemathesis", "run", f"{base(server)}/openapi.json"]
    arguments += ["--max-examples", str(EXAMPLES), "--exclude-checks", LEFT_OUT, "--no-color"]
    arguments += ["--generation-deterministic"]
    for name, value in server.headers.items():
        arguments += ["--header", f"{name}: {value}"]
    done = subprocess.run(
        arguments, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr
    assert " passed" in done.stdout
