"""What a model pays for each answer: tokens of o200k, which must not grow."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from tests.clients.server import BELLJAR
from tests.clients.tokens import count
from tests.machine import need_packages

TRACEBACK = """\
def average(values):
    return sum(values) / len(values)

print(average([]))
"""
FRAME = """\
import pandas as pd
pd.DataFrame({
    "id": range(1000),
    "name": [f"item {n}" for n in range(1000)],
    "price": [n * 1.5 for n in range(1000)],
})
"""
ALL = {f"SANDBOX_ENABLE_{name}": "true" for name in ("DATA_SCIENCE", "FILESYSTEM", "NETWORK")}
# The Python SDK 1.x validates the schema itself with each answer, at about 0.4 ms for each
# subschema: within 5 ms for this many, where 0.1 took 43 ms.
MAX_SUBSCHEMAS = 8


class Server:
    """One over stdio."""

    def __init__(self, **environment: str) -> None:
        self._process = subprocess.Popen(
            [BELLJAR, "serve", "--config", "/dev/null", "--log-level", "off"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
        self.ask("initialize", **params)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        result: dict[str, Any] = json.loads(self._process.stdout.readline())["result"]
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", name=tool, arguments=arguments)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


@pytest.fixture(scope="module", params=[{}, ALL], ids=["default", "all-profiles"])
def server(request, sealed) -> Iterator[Server]:
    server = Server(**request.param)
    yield server
    server.close()


@pytest.fixture(scope="module")
def plain(sealed) -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# Random ones take from 20 to 27 tokens.
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ONE_UUID = "6f9619ff-8b86-4011-b42d-00c04fc964ff"


def parts(result: dict[str, Any]) -> tuple[str, str, str]:
    """The text for the model, everything in `content`, and the structured content."""
    blocks = [
        block["text"] if block["type"] == "text" else compact(block) for block in result["content"]
    ]
    structured = dict(result["structuredContent"])
    if "execution_time" in structured:
        structured["execution_time"] = 0.0012
    texts = (blocks[0], "\n".join(blocks), compact(structured))
    text, content, in_object = (UUID.sub(ONE_UUID, each) for each in texts)
    return text, content, in_object


def test_a_line_that_was_printed(build, plain):
    text, _, structured = parts(plain.call("execute_code", code="print('hi')"))
    in_text, in_object = count(build, [text, structured])
    assert in_text <= 40
    assert in_object <= 120


def test_a_refused_import(build, plain):
    for code in ("import socket", "import flask", "import ctypes"):
        text, _, structured = parts(plain.call("execute_code", code=code))
        assert max(count(build, [text, structured])) <= 120, code


def test_an_exception(build, plain):
    text, _, structured = parts(plain.call("execute_code", code=TRACEBACK))
    in_text, in_object = count(build, [text, structured])
    assert in_text <= 150
    assert in_object <= 200  # with the traceback, escaped


@pytest.mark.parametrize(
    "row", ["i", "i, i * i", "'row', i", "f'row {i}: value {i * i}'", "'some words of a row'"]
)
def test_thirty_thousand_rows(build, plain, row):
    result = plain.call("execute_code", code=f"for i in range(30_000): print({row})")
    _, content, structured = parts(result)
    assert sum(count(build, [content, structured])) <= 3500


def test_what_was_left_out_is_read_in_pieces(build, plain):
    said = plain.call("execute_code", code="for i in range(30_000): print(i)")["content"][0]["text"]
    uri = said[said.index("belljar://") : said.index("?offset=")]
    piece = plain.call("read_output", uri=uri)
    assert "structuredContent" not in piece
    (tokens,) = count(build, [piece["content"][0]["text"]])
    assert 1500 < tokens <= 2600


def test_a_table_of_a_thousand_rows(build):
    server = Server(**ALL)
    try:
        result = server.call("execute_code", code=FRAME, timeout=60)
    finally:
        server.close()
    if not result["structuredContent"]["success"]:
        need_packages("data-science")
    _, content, structured = parts(result)
    assert sum(count(build, [content, structured])) <= 700


def test_the_list_of_tools(build, server):
    (tokens,) = count(build, [compact(server.ask("tools/list"))])
    assert tokens <= 3500


def test_the_list_of_tools_with_commands(build):
    server = Server(**ALL, SANDBOX_ENABLE_LANGUAGES="shell,bash")
    try:
        listed = server.ask("tools/list")
    finally:
        server.close()
    (command,) = [tool for tool in listed["tools"] if tool["name"] == "run_command"]
    tokens, alone = count(build, [compact(listed), compact(command)])
    assert tokens <= 4000
    assert alone <= 650


def test_the_list_of_tools_without_sessions(build):
    server = Server(**ALL, BELLJAR_SESSIONS_ENABLED="false")
    try:
        (tokens,) = count(build, [compact(server.ask("tools/list"))])
    finally:
        server.close()
    assert tokens <= 2500


def test_a_cell_costs_little_more_than_a_run(build, plain):
    first = plain.call("execute_code", code="print('hi')", session="new")
    session = first["structuredContent"]["session"]["id"]
    second = plain.call("execute_code", code="print('hi')", session=session)
    (text, _, _), (next_text, _, structured) = parts(first), parts(second)
    in_first, in_next, in_object = count(build, [text, next_text, structured])
    assert in_first <= 75  # with the id, of 32 random digits
    assert in_next <= 40
    assert in_object <= 175
    plain.call("close_session", session=session)


def test_what_the_sandbox_offers(build, server):
    text, _, structured = parts(server.call("get_sandbox_info"))
    assert max(count(build, [text, structured])) <= 800
    assert "subprocess" not in structured  # only tests that patch it may import it
    assert "the standard library except " in text


def test_more_is_there_for_those_who_ask(plain):
    info = plain.call("get_sandbox_info", detail="full")["structuredContent"]
    assert len(info["isolation"]["layers"]) == 6
    assert "sqrt" in info["security_profiles"]["basic"]["names"]["math"]
    run = plain.call("execute_code", code="1", detail="full")["structuredContent"]
    assert len(run["isolation"]["layers"]) == 6


def count_subschemas(schema: dict[str, Any]) -> int:
    applicators = {"properties", "additionalProperties"}  # the keywords that hold subschemas
    known = applicators | {"type", "required", "enum", "const", "description"}
    assert set(schema) <= known, "other keywords may have subschemas, which would not be counted"
    inner = list(schema.get("properties", {}).values())
    if isinstance(schema.get("additionalProperties"), dict):
        inner.append(schema["additionalProperties"])
    return 1 + sum(map(count_subschemas, inner))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("execute_code", {"code": "print('hi')\n6 * 7"}),
        ("execute_code", {"code": "for i in range(30_000): print(i)"}),
        ("validate_code", {"code": "import glob"}),
        ("get_sandbox_info", {}),
        ("execute_code", {"code": "1", "session": "new"}),
        ("open_session", {}),
        ("list_sessions", {}),
    ],
)
def test_a_client_in_python_validates_it_quickly(plain, tool, arguments):
    (schema,) = (
        each["outputSchema"] for each in plain.ask("tools/list")["tools"] if each["name"] == tool
    )
    jsonschema.validate(plain.call(tool, **arguments)["structuredContent"], schema)
    assert count_subschemas(schema) <= MAX_SUBSCHEMAS
