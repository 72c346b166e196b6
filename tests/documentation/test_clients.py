"""docs/clients.md: what clients copy starts or reaches a server that lists its tools."""

import json
import re
import shlex
import subprocess

from tests.cli.commands import COMMANDS
from tests.documentation.conftest import BELLJAR, environment, names, page, table
from tests.documentation.test_mcp_page import ask
from tests.machine import need_program

TEXT = page("docs/clients.md")
JSON_BLOCKS = [
    json.loads(text)
    for text in re.findall(r"```json\n(.*?)```", TEXT.split("## A call")[0], re.DOTALL)
]
SHELL_LINES = [
    line
    for text in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in text.splitlines()
    if line
]
URL = "http://127.0.0.1:9015/mcp"
SERVE = ["serve", "--profiles", "basic,filesystem,data-science"]


def servers() -> list[dict]:
    """The entries of all JSON blocks, whatever the client calls the list."""
    return [
        block[key]["belljar"]
        for block in JSON_BLOCKS
        for key in ("mcpServers", "servers")
        if key in block
    ]


def lists_tools(command: list[str], **variables: str) -> bool:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    done = subprocess.run(
        command,
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        check=True,
        env=environment(**variables),
        timeout=60,
    )
    tools = json.loads(done.stdout)["result"]["tools"]
    return [tool["name"] for tool in tools] == [
        "execute_code",
        "validate_code",
        "get_sandbox_info",
        "read_output",
        "open_session",
        "list_sessions",
        "close_session",
        "checkpoint",
        "session_files",
    ]


def test_there_is_a_block_for_each_kind_of_client():
    assert len(servers()) == len(JSON_BLOCKS) == 3
    for name in ("Claude Code", "Claude Desktop", "Cursor", "VS Code", "Inspector", "ContextForge"):
        assert name in TEXT


def test_what_clients_start_lists_tools():
    started = [server for server in servers() if "command" in server]
    assert len(started) == 2
    for server in started:
        assert server["args"] == SERVE
        assert lists_tools([server["command"], *server["args"]])


def test_what_clients_reach_is_where_the_server_listens():
    reached = [server for server in servers() if "url" in server]
    assert reached
    for server in reached:
        assert server["url"] == URL
        assert server["headers"]["Authorization"].startswith("Bearer ")
    assert f"belljar serve --http {URL.split('/')[2]}" in TEXT


def test_claude_code():
    lines = [line for line in SHELL_LINES if line.startswith("claude mcp add")]
    stdio, http = (shlex.split(line) for line in lines)
    assert stdio[:5] == ["claude", "mcp", "add", "belljar", "--"] and stdio[6:] == SERVE
    assert lists_tools(stdio[5:])
    assert http[3:7] == ["--transport", "http", "belljar", URL]
    assert http[7] == "--header" and http[8].startswith("Authorization: Bearer ")


def test_the_inspector():
    lines = [shlex.split(line) for line in SHELL_LINES if line.startswith("npx")]
    package = "@modelcontextprotocol/inspector"
    assert lines[0] == ["npx", package, "belljar", *SERVE]
    assert lines[1] == ["npx", package, "--cli", "belljar", *SERVE, "--method", "tools/list"]


def test_contextforge():
    (text,) = re.findall(r"```sh\n(curl .*?)```", TEXT, re.DOTALL)
    words = shlex.split(text)
    assert words[2] == "$GATEWAY/v1/gateways"
    body = json.loads(words[words.index("-d") + 1].replace("$(cat token)", "x" * 64))
    assert body == {
        "name": "belljar",
        "url": URL,
        "transport": "STREAMABLEHTTP",
        "auth_type": "bearer",
        "auth_token": "x" * 64,
    }


def test_a_token_made_as_shown_is_taken(tmp_path):
    need_program("openssl", "openssl")
    (make,) = [line for line in SHELL_LINES if "openssl" in line]
    subprocess.run(["bash", "-ec", make], cwd=tmp_path, check=True, timeout=60)
    (serve,) = [line for line in SHELL_LINES if "0.0.0.0" in line]
    done = subprocess.run(
        [BELLJAR, *shlex.split(serve)[1:], "--check"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "tokens: 1" in done.stderr


def test_every_tool_is_named(server):
    assert {tool["name"] for tool in ask(server, "tools/list")["tools"]} == set(
        re.findall(r"`(\w+_\w+|checkpoint)`", TEXT.split("## ")[0])
    )


def test_the_interfaces_of_the_index_are_commands():
    rows = table(page("docs/index.md"), "interface", "for", "page")
    shown = [name for row in rows for name in names(row[0]) if name.startswith("belljar ")]
    assert len(shown) > 7
    assert {name.removeprefix("belljar ") for name in shown} <= set(COMMANDS) | {"kernel"}
