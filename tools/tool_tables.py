"""Generates the tool tables in docs/mcp-tools.md from the schemas listed by the server.

    python3 tools/tool_tables.py build/release/belljar           # exits with 1 if out of date
    python3 tools/tool_tables.py build/release/belljar --write

A table is between `<!-- table: execute_code arguments -->` and `<!-- end of table -->`. The server
runs without configuration, so the defaults are those of a fresh installation; it offers Bash
and the shell, so that what concerns languages is there.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from made_page import table, write_or_compare

PAGE = Path(__file__).parents[1] / "docs/mcp-tools.md"
BLOCK = re.compile(r"(<!-- table: (\w+) (arguments|result) -->\n).*?(<!-- end of table -->)", re.S)
REQUESTS = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}},
    },
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def listed_tools(belljar: Path) -> dict[str, dict[str, Any]]:
    """The tools listed by `belljar serve`, by name, with the schema of full answers, if any."""
    printed = subprocess.run([belljar, "info", "--schemas"], capture_output=True, check=True)
    schemas = json.loads(printed.stdout)
    done = subprocess.run(
        [belljar, "serve", "--languages", "bash,shell"],
        input="".join(json.dumps(request) + "\n" for request in REQUESTS),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        # Ignores the user's own configuration.
        env={"HOME": "/nonexistent"},
    )
    tools = json.loads(done.stdout.splitlines()[-1])["result"]["tools"]
    return {tool["name"]: tool | {"fullSchema": schemas.get(tool["name"])} for tool in tools}


def type_text(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(type_text(each) for each in schema["anyOf"])
    types = schema.get("type", "any")
    if types == "array":
        return "array of " + type_text(schema["items"])
    each = schema.get("additionalProperties")
    if isinstance(each, dict) and each.get("type") == "string":
        return "object of string"
    return " or ".join(types) if isinstance(types, list) else types


def bounds(schema: dict[str, Any]) -> list[str]:
    """Each bound as text."""
    found = []
    if "maximum" in schema:
        found.append(f"{schema['minimum']:,} to {schema['maximum']:,}")
    elif "minimum" in schema:
        found.append(f"from {schema['minimum']:,}")
    if "maxLength" in schema and "enum" not in schema:
        found.append(f"up to {schema['maxLength']:,} characters")
    if "pattern" in schema:
        found.append(f"`{schema['pattern']}`")
    if "maxItems" in schema:
        found.append(f"up to {schema['maxItems']:,} of them")
    if "maxProperties" in schema:
        found.append(f"up to {schema['maxProperties']:,} of them")
        found += bounds(schema["additionalProperties"])
    for each in schema.get("anyOf", ()):
        found += bounds(each)
    if "items" in schema:
        found += bounds(schema["items"])
    return found


def argument_table(schema: dict[str, Any]) -> str:
    if not schema["properties"]:
        return "It takes no arguments.\n"
    head = ("argument", "type", "bounds", "default", "meaning")
    return table(head, argument_rows(schema)) + "\n"


def argument_rows(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, ...]]:
    """Rows for arguments and for the members of objects: `sessions.idle`, `files[].path`."""
    for name, each in schema["properties"].items():
        default = f"`{json.dumps(each['default'])}`" if "default" in each else "none"
        if name in schema.get("required", ()):
            default = "**required**"
        key = path + name
        limits, meaning = "; ".join(bounds(each)), each.get("description", "")
        yield f"`{key}`", type_text(each), limits, default, meaning
        if "properties" in each:
            yield from argument_rows(each, f"{key}.")
        if "properties" in each.get("items", {}):
            yield from argument_rows(each["items"], f"{key}[].")


def result_rows(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, ...]]:
    """Rows for keys and nested keys: `error.line`, `findings[].rule`, `security_profiles.*`."""
    for name, each in schema.get("properties", {}).items():
        key = f"{path}.{name}" if path else name
        yield f"`{key}`", type_text(each), each.get("description", "")
        yield from result_rows(each, key)
    if isinstance(schema.get("items"), dict):
        yield from result_rows(schema["items"], path + "[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from result_rows(schema["additionalProperties"], path + ".*")


def result_table(schema: dict[str, Any]) -> str:
    return table(("key", "type", "meaning"), result_rows(schema)) + "\n"


def with_tables(page: str, tools: dict[str, dict[str, Any]]) -> str:
    """The page with all tables regenerated from the schemas."""

    def made(block: re.Match) -> str:
        tool = tools[block[2]]
        if block[3] == "arguments":
            return block[1] + argument_table(tool["inputSchema"]) + block[4]
        return block[1] + result_table(tool["fullSchema"]) + block[4]

    return BLOCK.sub(made, page)


def main(arguments: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    return write_or_compare(PAGE, with_tables(page, listed_tools(Path(arguments[0]))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
