"""Generates docs/http-reference.md from the OpenAPI document of a server.

    python3 tools/http_reference.py build/release/belljar           # exits with 1 if out of date
    python3 tools/http_reference.py build/release/belljar --write

The server has sessions, languages, jobs and an audit log, so that every operation is included.
"""

import json
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from made_page import table, write_or_compare
from tool_tables import argument_table, type_text

PAGE = Path(__file__).parents[1] / "docs/http-reference.md"
HEAD = """# Reference of the HTTP API

Every operation of [the HTTP API](http.md), made by `tools/http_reference.py` from the document that
a server has at `/openapi.json` (OpenAPI 3.1). The objects of outcomes are described with the
[MCP tools](mcp.md).

"""
TITLES = {
    "executions": "Executions",
    "jobs": "Jobs",
    "sessions": "Sessions",
    "audit": "Audit log",
    "server": "Server",
}


def document(belljar: Path) -> dict[str, Any]:
    """The OpenAPI document of a server with all features."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [
                belljar,
                "serve",
                "--http",
                "127.0.0.1:0",
                "--languages",
                "bash,shell",
                "--jobs",
                f"{folder}/jobs/jobs.db",
            ]
            + ["--audit", "--audit-folder", f"{folder}/audit"],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            # Ignores the user's own configuration.
            env={"HOME": "/nonexistent"},
        )
        assert process.stderr is not None
        try:
            listen = json.loads(process.stderr.readline())["listen"]
            url = listen.removesuffix("/mcp") + "/openapi.json"
            with urllib.request.urlopen(url, timeout=60) as answer:
                return json.load(answer)
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


def parameter_table(parameters: list[dict[str, Any]]) -> str:
    rows = [
        (
            f"`{each['name']}`" + (" (required)" if each["required"] else ""),
            each["in"],
            type_text(each["schema"]),
            each.get("description", ""),
        )
        for each in parameters
    ]
    return table(("parameter", "in", "type", "meaning"), rows) + "\n"


def schema_of(content: dict[str, Any]) -> dict[str, Any]:
    return next(iter(content.values()))["schema"]


def body_text(body: dict[str, Any], schemas: dict[str, Any]) -> str:
    schema = schema_of(body["content"])
    if name := schema.get("$ref", "").rpartition("/")[2]:
        schema = schemas[name]
    if "properties" not in schema:
        kind = next(iter(body["content"]))
        return (
            "The body is one of two objects: see [batches](http.md#batches).\n"
            if "oneOf" in schema
            else f"The body is the content (`{kind}`).\n"
        )
    return argument_table(schema)


def answer_text(response: dict[str, Any]) -> str:
    text = response["description"]
    if "content" in response:
        kind, content = next(iter(response["content"].items()))
        name = content["schema"].get("$ref", "").rpartition("/")[2] if content["schema"] else ""
        if kind != "*/*" and kind != "application/problem+json":
            text += f" (`{kind}`{f': {name}' if name else ''})"
    return text


def operation_text(
    method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]
) -> str:
    text = f"### {operation['operationId']}\n\n`{method.upper()} {path}`\n\n"
    text += f"{operation['summary']}. {operation['description']}\n"
    if parameters := operation.get("parameters"):
        text += "\n" + parameter_table(parameters)
    if body := operation.get("requestBody"):
        text += "\n" + body_text(body, schemas)
    responses = sorted(operation["responses"].items())
    answers = ((status, answer_text(response)) for status, response in responses)
    return text + "\n" + table(("status", "answer"), answers) + "\n\n"


def made(api: dict[str, Any]) -> str:
    by_tag: dict[str, str] = {}
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            (tag,) = operation["tags"]
            by_tag.setdefault(tag, "")
            by_tag[tag] += operation_text(method, path, operation, api["components"]["schemas"])
    descriptions = {tag["name"]: tag["description"] for tag in api["tags"]}
    text = HEAD
    for tag, title in TITLES.items():
        text += f"## {title}\n\n{descriptions[tag]}\n\n" + by_tag.pop(tag)
    assert not by_tag, f"tags without a title: {by_tag.keys()}"
    return text.rstrip("\n") + "\n"


def main(arguments: list[str]) -> int:
    return write_or_compare(PAGE, made(document(Path(arguments[0]))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
