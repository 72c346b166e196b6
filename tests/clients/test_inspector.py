"""The MCP Inspector's command line: what people try a server with first."""

import json
import os
import subprocess

import pytest

from tests.clients.server import BELLJAR, TOOLS

# The third, `auto`, asks which of these it is and then does the same.
ERAS = ["legacy", "modern"]


@pytest.fixture(params=["stdio", "http"])
def target(request) -> list[str]:
    """How the Inspector is told where the server is."""
    if request.param == "stdio":
        return [str(BELLJAR), "serve"]
    server = request.getfixturevalue("server")
    headers = [f"{name}: {value}" for name, value in server.headers.items()]
    return ["--server-url", server.url, "--transport", "http", "--header", *headers]


@pytest.fixture(params=ERAS)
def inspect(request, build, target, tmp_path):
    """Runs the Inspector; what it printed, and what it said on stderr."""

    def run(*arguments: str) -> tuple[dict, str]:
        program = build / "clients/node_modules/@modelcontextprotocol/inspector/clients"
        done = subprocess.run(
            [build / "clients/node", program / "launcher/build/index.js", "--cli", *target]
            + ["--protocol-era", request.param, *arguments, "--format", "json"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=os.environ | {"HOME": str(tmp_path)},
        )
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout)["result"], done.stderr

    return run


def test_tools_are_listed_and_their_schemas_are_portable(inspect):
    # 6 would be its exit status for a schema that some clients cannot take.
    result, said = inspect("--method", "tools/list", "--strict")
    assert {tool["name"] for tool in result["tools"]} == TOOLS
    # It warns of what some model providers cannot read; they read what goes in, not what comes out.
    assert "Path: inputSchema" not in said


def test_a_tool_is_called(inspect):
    arguments = json.dumps({"code": 'print("hello")\nresult = 2 + 2', "timeout": 5})
    result, _ = inspect(
        *("--method", "tools/call", "--tool-name", "execute_code"),
        *("--tool-args-json", arguments),
    )
    assert not result.get("isError")
    assert result["structuredContent"]["result"] == 4
    assert result["content"] == [{"type": "text", "text": "stdout:\nhello\n\nvalue:\n4"}]
