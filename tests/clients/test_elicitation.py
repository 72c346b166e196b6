"""A program's input() asks the person at an official client, over both transports."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.clients.server import BELLJAR, TOKEN, HttpServer
from tests.clocks import HANG

CODE = "name = input('Name? ')\nage = int(input('Age? '))\nresult = f'{name} {age}'"
ASKED = [
    f"The program in the sandbox asks for a line of input: {each}? " for each in ("Name", "Age")
]

PYTHON = """
import asyncio, json, sys
import httpx2
from contextlib import AsyncExitStack
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

PLAN = json.loads(sys.argv[1])
asked, answers = [], list(PLAN["answers"])

async def answer(context, params):
    asked.append(params.message)
    line = answers.pop(0)
    if line is None:
        return ElicitResult(action="decline")
    return ElicitResult(action="accept", content={"input": line})

async def main():
    async with AsyncExitStack() as stack:
        if "url" in PLAN:
            http = httpx2.AsyncClient(headers=PLAN["headers"], timeout=60)
            await stack.enter_async_context(http)
            transport = streamable_http_client(PLAN["url"], http_client=http)
        else:
            command, *args = PLAN["command"]
            transport = stdio_client(StdioServerParameters(command=command, args=args))
        client = Client(transport, mode="legacy", elicitation_callback=answer)
        await stack.enter_async_context(client)
        result = await client.call_tool("execute_code", {"code": PLAN["code"]})
        print(json.dumps({"asked": asked, "text": result.content[0].text}))

asyncio.run(main())
"""

NODE = """
import { createRequire } from 'node:module';
const plan = JSON.parse(process.argv[2]);
const require = createRequire(`${plan.installed}/package.json`);
const sdk = (path) => require(`@modelcontextprotocol/sdk/${path}.js`);
const { Client } = sdk('client/index');
const { StdioClientTransport } = sdk('client/stdio');
const { StreamableHTTPClientTransport } = sdk('client/streamableHttp');
const { ElicitRequestSchema } = sdk('types');
const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
const asked = [];
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  asked.push(params.message);
  const input = plan.answers.shift();
  return input === null ? { action: 'decline' } : { action: 'accept', content: { input } };
});
await client.connect(
  plan.url
    ? new StreamableHTTPClientTransport(new URL(plan.url), {
        requestInit: { headers: plan.headers },
      })
    : new StdioClientTransport({ command: plan.command[0], args: plan.command.slice(1) }),
);
const result = await client.callTool({ name: 'execute_code', arguments: { code: plan.code } });
console.log(JSON.stringify({ asked, text: result.content[0].text }));
await client.close();
process.exit(0);
"""


@pytest.fixture(params=["python", "node"])
def program(request, build: Path, tmp_path: Path) -> list[str]:
    """The client's command, to which the plan is added."""
    if request.param == "python":
        return [str(build / "venv-clients/bin/python"), "-I", "-c", PYTHON]
    script = tmp_path / "client.mjs"
    script.write_text(NODE)
    return [str(build / "clients/node"), str(script)]


@pytest.fixture(params=["stdio", "http"])
def place(request, server: HttpServer) -> dict[str, object]:
    if request.param == "http":
        return {"url": server.url, "headers": {"Authorization": f"Bearer {TOKEN}"}}
    return {"command": [str(BELLJAR), "serve", "--config", "/dev/null", "--log-level", "off"]}


def ask(program: list[str], build: Path, place: dict[str, object], answers: list[str | None]):
    plan = {**place, "code": CODE, "answers": answers, "installed": str(build / "clients")}
    ran = subprocess.run(
        [*program, json.dumps(plan)], capture_output=True, text=True, timeout=HANG, check=True
    )
    return json.loads(ran.stdout)


def test_the_person_is_asked(program, build, place):
    seen = ask(program, build, place, ["Ada", "36"])
    assert seen["asked"] == ASKED
    assert "'Ada 36'" in seen["text"]


def test_who_declines_ends_the_input(program, build, place):
    seen = ask(program, build, place, ["Ada", None])
    assert seen["asked"] == ASKED
    assert "EOFError" in seen["text"]
