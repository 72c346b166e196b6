"""docs/mcp*.md and docs/operations.md say what the server does."""

import json
import re
import subprocess
import urllib.request

import pytest
import tool_tables

from tests.clocks import UNTIL_KILLED, until
from tests.documentation.conftest import (
    BELLJAR,
    ROOT,
    environment,
    names,
    page,
    section,
    serving,
    shell,
    shows,
    table,
)

TOOLS = page("docs/mcp-tools.md")
PAGE = "\n".join(
    [page("docs/mcp.md"), TOOLS, page("docs/mcp-errors.md"), page("docs/operations.md")]
)
WALK = re.findall(
    r"```sh\n(.*?)```\n```text\n(.*?)```", section(PAGE, "A walkthrough with curl"), re.DOTALL
)


@pytest.fixture(scope="module")
def tools():
    return tool_tables.listed_tools(BELLJAR)


def source(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def ask(address: str, method: str, **params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(
        f"http://{address}/mcp", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)["result"]


def call(address: str, tool: str, **arguments):
    return ask(address, "tools/call", name=tool, arguments=arguments)


# --- the tools --------------------------------------------------------------------------------


def test_the_tables_are_what_the_server_lists(tools):
    assert tool_tables.with_tables(TOOLS, tools) == TOOLS, (
        "run: python3 tools/tool_tables.py build/release/belljar --write"
    )


def test_every_tool_has_both_tables(tools):
    blocks = {(name, kind) for _, name, kind, _ in tool_tables.BLOCK.findall(TOOLS)}
    expected = {(name, kind) for name in tools for kind in ("arguments", "result")}
    assert blocks == expected - {("read_output", "result")}  # its answers are text alone


def test_a_changed_schema_is_noticed(tools):
    changed = json.loads(json.dumps(tools))
    changed["execute_code"]["inputSchema"]["properties"]["timeout"]["maximum"] = 301
    assert tool_tables.with_tables(TOOLS, changed) != TOOLS
    changed = json.loads(json.dumps(tools))
    del changed["execute_code"]["fullSchema"]["properties"]["error"]["properties"]["hint"]
    assert tool_tables.with_tables(TOOLS, changed) != TOOLS


def test_hints(tools):
    header = ("tool", "purpose", "read-only", "destructive", "idempotent", "open world")
    rows = table(PAGE, *header)
    assert [names(row[0])[0] for row in rows] == list(tools)
    for name, _, *hints in rows:
        listed = tools[names(name)[0]]["annotations"]
        keys = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
        assert hints == ["yes" if listed[key] else "no" for key in keys]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("execute_code", {"code": "1"}),
        ("execute_code", {"code": "1 / 0"}),
        ("execute_code", {"code": "import glob"}),
        ("execute_code", {"code": "while True: pass", "timeout": 0.1}),
        ("validate_code", {"code": "import glob"}),
        ("validate_code", {"code": "def"}),
    ],
)
def test_every_key_of_the_first_level_is_in_every_full_answer(server, tools, tool, arguments):
    result = call(server, tool, **arguments, detail="full")
    answer = result["structuredContent"]
    # Of a cell; of what is not UTF-8; of what is not Python.
    not_here = {"session", "stdout_base64", "stderr_base64", "language"}
    assert set(answer) == set(tools[tool]["fullSchema"]["properties"]) - not_here
    assert json.loads(result["content"][0]["text"]) == answer


def test_the_page_names_every_key_of_a_lean_answer(server):
    lean = section(PAGE, "The lean object")
    code = "import sys\nprint('x' * 50_000)\nopen"
    for arguments in ({"code": code}, {"code": "1 / 0"}, {"code": "import a, b"}):
        answer = call(server, "execute_code", **arguments)["structuredContent"]
        for key in [
            *answer,
            *answer.get("isolation", {}),
            *answer.get("cut", {}).get("stdout", {}),
        ]:
            assert f"`{key}`" in lean, key


@pytest.mark.parametrize(
    ("status", "arguments"),
    [
        ("ok", {"code": "1"}),
        ("exception", {"code": "1 / 0"}),
        ("refused", {"code": "import glob"}),
        ("timeout", {"code": UNTIL_KILLED, "timeout": 0.1}),
        ("memory_limit", {"code": "x = 'x' * 10 ** 9", "memory_limit": "16m"}),
    ],
)
def test_each_status_is_an_error_or_not_as_the_page_says(server, status, arguments):
    rows = table(PAGE, "`status`", "`isError`", "what happened", "remedy")
    said = {name: row[1] == "true" for row in rows for name in names(row[0])}
    result = call(server, "execute_code", **arguments)
    assert result["structuredContent"]["status"] == status
    assert result["isError"] is said[status]


def test_every_status_is_in_the_table(tools):
    rows = table(PAGE, "`status`", "`isError`", "what happened", "remedy")
    listed = tools["execute_code"]["outputSchema"]["properties"]["status"]["enum"]
    assert {name for row in rows for name in names(row[0])} == set(listed)


# --- the walkthrough --------------------------------------------------------------------------


def test_the_walk_has_steps():
    assert len(WALK) == 6
    assert all("127.0.0.1:9015" in commands for commands, _ in WALK)


@pytest.mark.parametrize(("commands", "expected"), WALK, ids=lambda text: text.split()[-1][:20])
def test_a_step_prints_what_is_below_it(server, commands, expected, tmp_path):
    # A machine that stalls for half a second sees two prints as one.
    for _ in range(3):
        done = shell(commands.replace("127.0.0.1:9015", server), tmp_path)
        if done.returncode == 0 and shows(expected, done.stdout):
            return
    pytest.fail(done.stdout)


# --- what is answered -------------------------------------------------------------------------


def test_every_error_code_is_described():
    codes = set()
    for name in ("json_rpc/message.h", "mcp/error_code.h", "http/response.cc"):
        codes |= set(re.findall(r"(?:= |\\?\"code\\?\":)(-32\d{3})", source(f"server/{name}")))
    assert len(codes) == 10
    rows = table(PAGE, "code", "meaning", "`data`", "over HTTP", "what to do")
    assert {row[0] for row in rows} == codes


def test_every_http_status_is_described():
    text = "".join(
        (ROOT / name).read_text(encoding="utf-8")
        for name in (
            "engine/http1/request_reader.cc",
            "server/http/request_check.cc",
            "server/http/connection.cc",
            "server/http/response.cc",
        )
    )
    sent = re.findall(
        r"(?:Refuse|RefuseBroken|Fail|Whole|Head)\(\s*\{?(\d{3})\b|return (\d{3});"
        r"|refusal = \{\s*(\d{3})",
        text,
    )
    sent = {next(filter(None, groups)) for groups in sent}
    assert len(sent) > 12
    assert {row[0] for row in table(PAGE, "status", "when")} == sent


def test_the_revisions_are_those_that_the_server_names(server):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}
    request = urllib.request.Request(
        f"http://{server}/mcp",
        json.dumps(body).encode(),
        {
            "Content-Type": "application/json",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "server/discover",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        listed = json.load(response)["result"]["supportedVersions"]
    rows = table(PAGE, "revision", "era", "how a client begins")
    assert [revision for row in rows for revision in names(row[0])] == listed


def test_limits_are_the_defaults_of_the_settings_they_name():
    done = subprocess.run(
        [BELLJAR, "config", "--defaults", "--json"],
        capture_output=True,
        check=True,
        env=environment(),
        timeout=60,
    )
    defaults = {each["key"]: each["text"] for each in json.loads(done.stdout)["settings"]}
    limits = table(PAGE, "limit", "default", "setting")
    assert any(key for _, _, key in limits)
    for _, said, key in limits:
        if key:
            (key,) = names(key)
            plain = said.replace(" MiB", "m").replace(" KiB", "k").replace(" s", "s")
            assert plain.replace(",", "") == defaults[key], key
    events = {names(row[0])[0] for row in table(page("docs/events.md"), "event", "when", "fields")}
    for key in re.findall(r"`((?:http|execution|log|server)\.\w+)`", PAGE):
        assert key in defaults or key in events


# --- metrics and log --------------------------------------------------------------------------


def metrics(address: str) -> tuple[dict[str, str], dict[str, set[str]]]:
    """The type and the label names of each metric that the server shows now."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as response:
        text = response.read().decode()
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    labels: dict[str, set[str]] = {name: set() for name in types}
    for name, pairs in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", text, re.M):
        family = name if name in types else re.sub(r"_(bucket|sum|count)$", "", name)
        labels[family] |= set(re.findall(r'(\w+)="', pairs)) - {"le"}
    return types, labels


def test_every_metric_is_described(tmp_path):
    rows = {names(row[0])[0]: row for row in table(PAGE, "metric", "type", "labels", "meaning")}
    described = (
        {name: row[1] for name, row in rows.items()},
        {name: set(names(row[2])) for name, row in rows.items()},
    )
    # Without the language policy a program gets as far as the system call that is denied.
    with serving(tmp_path / "log.txt", "--policy", "off") as address:
        call(address, "execute_code", code="import socket\nsocket.socket()")
        # A call is answered first and counted afterwards.
        until(lambda: metrics(address) == described, lambda: (metrics(address), described))


def test_every_log_event_is_described():
    text = source("server/operations/log.cc")
    written = set(re.findall(r'(?:Write|Entry)\([^"{]*?"(\w+)"', text))
    assert len(written) >= 8
    # Calls and sessions have the names of events.
    written |= set(re.findall(r'"((?:call|execution)\.\w+)"', text))
    actions = {"closed", "evicted"}
    for path in (ROOT / "server/tools").glob("*.cc"):
        actions |= set(re.findall(r'RecordSession\(\w+, "(\w+)"', path.read_text("utf-8")))
    assert len(actions) >= 9
    renamed = {"branched": "opened", "rolled_back": "restored"}
    written |= {f"session.{renamed.get(action, action)}" for action in actions}
    rows = table(PAGE, "event", "level", "content")
    assert {name for row in rows for name in names(row[0])} == written
