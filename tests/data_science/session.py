"""One `belljar serve` for many programs: a zygote with these packages takes seconds to start."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from pathlib import Path
from typing import Any


class Session:
    def __init__(
        self, program: Path, *options: str, environment: dict[str, str] | None = None
    ) -> None:
        self._process = subprocess.Popen(
            [str(program), "serve", "--answer-detail", "full", *options],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._number = 0
        self._call(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "tests", "version": "1"},
        )
        # On a busy machine its start may take longer than a call waits for a worker.
        while "error" in self._ask("tools/call", name="execute_code", arguments={"code": "1"}):
            time.sleep(1)  # sleeps: before it asks again

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        answer = self._ask(method, **parameters)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {
            "jsonrpc": "2.0",
            "id": self._number,
            "method": method,
            "params": parameters,
        }
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer
        raise AssertionError("the server is gone")

    def run(self, code: str, **arguments: Any) -> dict[str, Any]:
        """The outcome as `--json` shows it, with the contents that the server keeps beside it."""
        answer = self._call(
            "tools/call", name="execute_code", arguments={"code": code, **arguments}
        )
        assert "structuredContent" in answer, answer
        outcome = answer["structuredContent"]
        for artifact in outcome["artifacts"]:
            if artifact["content"] is None and artifact.get("uri"):
                (kept,) = self._call("resources/read", uri=artifact["uri"])["contents"]
                artifact["encoding"] = "base64" if "blob" in kept else "utf-8"
                artifact["content"] = kept["blob"] if "blob" in kept else kept["text"]
        return outcome

    def close(self) -> None:
        self._process.kill()
        self._process.wait(timeout=10)


def artifacts_of(outcome: dict[str, Any], media_type: str) -> list[bytes]:
    """The contents of those of one kind."""
    return [
        base64.b64decode(each["content"])
        if each["encoding"] == "base64"
        else each["content"].encode()
        for each in outcome["artifacts"]
        if each["media_type"] == media_type
    ]
