"""A small MCP client: lists the tools, runs a program with its output live, and fixes a mistake.

    python3 examples/clients/mcp_client.py                        # starts `belljar serve`
    python3 examples/clients/mcp_client.py build/release/belljar serve

Nothing but the standard library: one JSON message a line, to and from a server that this starts.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

SLOW = """
import time
total = 0
for step in range(1, 4):
    total += step
    print("step", step, flush=True)
    time.sleep(0.3)
total
"""


class Client:
    """One server, one conversation, one request at a time."""

    def __init__(self, command: list[str]):
        # Standard error is the server's log, which is inherited here.
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last_id = 0
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "mcp_client.py", "version": "1"},
        }
        self.welcome = self.request("initialize", params)
        self.send({"method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.server.stdin.flush()

    def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        on_progress: Callable[[str], None] = lambda text: None,
    ) -> Any:
        self.last_id += 1
        params = {**(params or {}), "_meta": {"progressToken": self.last_id}}
        self.send({"id": self.last_id, "method": method, "params": params})
        for line in self.server.stdout:
            message = json.loads(line)
            if message.get("method") == "notifications/progress":
                on_progress(message["params"]["message"])
            elif message.get("id") == self.last_id:
                # An error of the protocol or of the server, never of the program.
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]
        raise RuntimeError("the server has ended")

    def call(self, tool: str, on_progress: Callable[[str], None] = print, **arguments: Any) -> Any:
        params = {"name": tool, "arguments": arguments}
        result = self.request("tools/call", params, on_progress)
        # For rejected arguments there is a text but no structured content.
        return result.get("structuredContent") or result["content"][0]["text"]

    def close(self) -> None:
        self.server.stdin.close()  # the end of input ends the server
        self.server.wait(timeout=30)


def main() -> None:
    client = Client(sys.argv[1:] or ["belljar", "serve"])
    print("connected to", client.welcome["serverInfo"]["title"])
    for tool in client.request("tools/list")["tools"]:
        print("tool", tool["name"] + ":", tool["title"])

    def live(text: str) -> None:
        for line in text.splitlines():
            print("live:", line, flush=True)

    print("result:", client.call("execute_code", live, code=SLOW, timeout=10)["result"])

    outcome = client.call("execute_code", code="import subprocess\nsubprocess.run(['ls'])")
    print("status:", outcome["status"], "-", outcome["error"]["message"])

    check = client.call("validate_code", code="import math\nmath.sqrt(2)")
    print("valid:", check["validation"]["valid"])
    client.close()


if __name__ == "__main__":
    main()
