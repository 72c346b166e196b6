"""ContextForge, a public MCP gateway, as a process of its own: SQLite in a temporary folder,
loopback only, one administrator, and nothing that the network would have to give."""

import json
import os
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.clients.server import end, free_port, wait_for_http

ADMINISTRATOR = "admin@example.com"
SECRET = "only-for-tests-0123456789-abcdefghijklmnopqrstuvwxyz"
STARTS_WITHIN = 90  # the first start makes its tables, which takes most of it


class Gateway:
    def __init__(self, python: Path, folder: Path):
        self.port = free_port()
        self.log = folder / "gateway.txt"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TMPDIR": str(folder),  # its lock file has one name for all users
            "DATABASE_URL": f"sqlite:///{folder}/gateway.db",
            "CACHE_TYPE": "memory",
            "AUTH_REQUIRED": "true",
            "JWT_SECRET_KEY": SECRET,
            "AUTH_ENCRYPTION_SECRET": SECRET[::-1],
            "BASIC_AUTH_PASSWORD": "Only-for-tests-1",
            "PLATFORM_ADMIN_EMAIL": ADMINISTRATOR,
            "PLATFORM_ADMIN_PASSWORD": "Only-for-tests-2",
            "PLUGINS_ENABLED": "false",
            # It does not talk to servers on its own machine unless told.
            "SSRF_ALLOW_LOCALHOST": "true",
        }
        self.token = subprocess.run(
            [python, "-m", "mcpgateway.utils.create_jwt_token", "--username", ADMINISTRATOR]
            + ["--admin", "--exp", "60", "--secret", SECRET],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout.split()[-1]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [python, "-m", "mcpgateway.cli", "mcpgateway.main:app"]
                + ["--host", "127.0.0.1", "--port", str(self.port)],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        wait_for_http(self.process, self.port, "/health", STARTS_WITHIN, self.log)

    def stop(self) -> None:
        end(self.process, 30)

    def ask(self, path: str, body: Any = None) -> Any:
        """GET, or POST with a body; the answer's JSON."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise AssertionError(
                f"the gateway answered {path} with {error.code}: {error.read()[:2000]!r}; its log "
                f"ends:\n{self.log.read_text(errors='replace')[-4000:]}"
            ) from None

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """tools/call at the gateway's own MCP endpoint."""
        params = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = self.ask("/mcp", body)
        assert "result" in answer, answer
        return answer["result"]
