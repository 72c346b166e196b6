"""One `belljar serve` for many programs, also at the same time."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any


class Session:
    """Answers are read by a thread of its own, so that calls may overlap."""

    def __init__(self, program: Path, *options: str, wrapper: tuple[str, ...] = (),
                 **environment: str) -> None:  # fmt: skip
        self._process = subprocess.Popen(
            [
                *wrapper,
                str(program),
                "serve",
                "--config",
                "/dev/null",
                "--answer-detail",
                "full",
                *options,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd="/",
            env={**os.environ, **environment},
        )
        self._waiting: dict[int, Future[Any]] = {}
        self._number = 0
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._send(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "tests", "version": "1"},
        ).result(100)

    def start(self, code: str, **arguments: Any) -> Future[dict[str, Any]]:
        """The outcome, as `--json` shows it, once there is one."""
        asked = self._send("tools/call", name="execute_code", arguments={"code": code, **arguments})
        outcome: Future[dict[str, Any]] = Future()

        def tell(answer: Future[dict[str, Any]]) -> None:
            error = answer.exception()
            if error is not None:
                outcome.set_exception(error)
            else:
                outcome.set_result(answer.result()["structuredContent"])

        asked.add_done_callback(tell)
        return outcome

    def run(self, code: str, **arguments: Any) -> dict[str, Any]:
        return self.start(code, **arguments).result(100)

    def close(self) -> None:
        self._process.kill()
        self._process.wait(timeout=10)
        self._reader.join(timeout=10)

    def _send(self, method: str, **parameters: Any) -> Future[Any]:
        stdin = self._process.stdin
        assert stdin is not None
        with self._lock:
            self._number += 1
            answer = self._waiting[self._number] = Future()
            message = {"jsonrpc": "2.0", "id": self._number, "method": method}
            stdin.write(json.dumps({**message, "params": parameters}) + "\n")
            stdin.flush()
        return answer

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            waiting = self._waiting.pop(message.get("id"), None)
            if waiting is None:
                continue
            if "result" in message:
                waiting.set_result(message["result"])
            else:
                waiting.set_exception(AssertionError(message["error"]))
        for waiting in self._waiting.values():
            waiting.set_exception(AssertionError("the server is gone"))
