"""Talks to Belljar through the official Python client and prints what it saw, one JSON object a
line: {step, seen}. session.mjs is the same for the TypeScript clients; official.py reads both.

Runs with the Python of the clients' own virtual environment."""

import asyncio
import json
import sys
import time
from contextlib import AsyncExitStack

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

PLAN = json.loads(sys.argv[1])
# sleeps: the client is told in between
PROGRAM = (
    'import time\nprint("first")\ntime.sleep({seconds})\nprint("last")\ntime.sleep(0.2)\nresult = 7'
)


def say(step, seen):
    print(json.dumps({"step": step, "seen": seen}), flush=True)


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


class Session:
    def __init__(self, client):
        self.client = client

    async def call(self, name, arguments, progress=None):
        """The client's own validators raise when a result does not fit the output schema."""
        try:
            return plain(await self.client.call_tool(name, arguments, progress_callback=progress))
        except MCPError as error:
            return {"thrown": {"name": "MCPError", "code": error.code, "message": str(error)}}
        except Exception as error:  # noqa: BLE001: whatever it is, the test wants to show it
            return {"thrown": {"name": type(error).__name__, "code": None, "message": str(error)}}

    async def tools(self):
        listed = await self.client.list_tools(cache_mode="bypass")
        return [plain(tool) for tool in listed.tools]

    async def watched(self, code, meanwhile=None, cancel=False):
        """Runs code that prints, and does `meanwhile` once the first of it has arrived."""
        events = []
        arrived = asyncio.Event()

        async def progress(done, total, message):
            events.append(
                {"event": "progress", "progress": done, "total": total} | {"message": message}
            )
            arrived.set()

        async def run():
            try:
                return await self.call("execute_code", {"code": code, "timeout": 60}, progress)
            finally:
                events.append({"event": "answer"})
                arrived.set()

        answer = asyncio.create_task(run())
        await arrived.wait()
        if meanwhile:
            await meanwhile(events)
        if cancel:
            answer.cancel()
        try:
            result = await answer
        except asyncio.CancelledError:
            result = {"thrown": {"name": "CancelledError", "code": None, "message": ""}}
        return {"result": result, "events": events}


async def main():
    async with AsyncExitStack() as stack:
        if PLAN["stdio"]:
            transport = stdio_client(StdioServerParameters(**PLAN["stdio"]))
        else:
            http = await stack.enter_async_context(
                httpx2.AsyncClient(headers=PLAN["http"]["headers"], timeout=60)
            )
            transport = streamable_http_client(PLAN["http"]["url"], http_client=http)
        client = Client(transport, mode=PLAN["mode"])
        await client.__aenter__()
        session = Session(client)
        say(
            "connected",
            {
                "version": client.protocol_version,
                "server": plain(client.server_info) if client.server_info else None,
                "capabilities": plain(client.server_capabilities),
                "instructions": client.instructions,
            },
        )
        say("tools", await session.tools())
        for step, name, arguments in PLAN["calls"]:
            answer = await session.call(name, arguments)
            say(step, answer)
            for part in answer.get("content", ()):
                if part["type"] == "resource_link":
                    say("read", plain(await client.read_resource(part["uri"])))
        say("progress", await session.watched(PROGRAM.format(seconds=0.4)))

        async def look_around(events):
            if client.protocol_version < "2026":
                await client.send_ping()
                events.append({"event": "ping"})
            events.append({"event": "list", "tools": len(await session.tools())})

        say("responsive", await session.watched(PROGRAM.format(seconds=1.5), look_around))

        order = []

        async def timed(name, code):
            answer = await session.call("execute_code", {"code": code})
            order.append(name)
            return answer.get("structuredContent", {}).get("result")

        # sleeps: longer than the other takes
        slow = asyncio.create_task(timed("slow", 'import time\ntime.sleep(0.6)\nresult = "slow"'))
        quick = asyncio.create_task(timed("quick", 'result = "quick"'))
        say("parallel", {"results": [await slow, await quick], "order": order})

        async def wait_to_be_told(_events):
            say("spinning", None)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)

        spinning = 'print("spinning")\nwhile True:\n    pass\n'
        say("cancelled", await session.watched(spinning, wait_to_be_told, cancel=True))
        say("after", await session.call("execute_code", {"code": "result = 8"}))

        closing = time.monotonic()  # clock: reported
        await client.__aexit__(None, None, None)
        say("closed", {"seconds": time.monotonic() - closing, "protocolErrors": []})


asyncio.run(main())
