"""A Docker Engine that stops while runs are in flight, and comes back: a dockerd of these tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clocks import UNTIL_KILLED, until
from tests.jail.conftest import BELLJAR
from tests.places.place import DOCKER, need

TOOL = Path(__file__).parents[2] / "tools/containers"
SLEEPS = "print('begun', flush=True)\n" + UNTIL_KILLED


class Engine:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.socket = folder / "containers/docker.sock"

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "BELLJAR_BUILD_DIR": str(self._folder),
            "DOCKER_HOST": f"unix://{self.socket}",
        }

    def tell(self, word: str) -> None:
        done = subprocess.run(
            [TOOL, word], env=self.environment, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    def kill(self) -> None:
        os.kill(int((self._folder / "containers/docker.pid").read_text()), signal.SIGKILL)

    def containers(self) -> list[str]:
        done = subprocess.run(
            ["docker", "ps", "--all", "--quiet"],
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.split()


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    need(DOCKER)
    engine = Engine(tmp_path_factory.mktemp("engine"))
    try:
        engine.tell("start")
        subprocess.run(
            [BELLJAR, "image", "build", "--profile", "basic", "--load", "docker"],
            env=engine.environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        yield engine
    finally:
        engine.tell("stop")


class Client:
    """Of a server over stdio, with calls in flight at the same time."""

    def __init__(self, engine: Engine) -> None:
        settings = DOCKER.settings() | {
            "BELLJAR_CONTAINER_SOCKET": str(engine.socket),
            "BELLJAR_CONTAINER_SPARES": "1",
        }
        self._process = subprocess.Popen(
            [BELLJAR, "serve"],
            env=os.environ | settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._last = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._begun: set[int] = set()
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
        self.answer(self._ask("initialize", hello | {"clientInfo": {"name": "t", "version": "1"}}))

    def call(self, code: str, *, use_container: bool) -> int:
        arguments = {"code": code, "use_container": use_container}
        meta = {"progressToken": self._last + 1}
        return self._ask(
            "tools/call", {"name": "execute_code", "arguments": arguments, "_meta": meta}
        )

    def answer(self, number: int) -> dict[str, Any]:
        while number not in self._answers:
            self._read()
        return self._answers.pop(number)["result"]

    def await_output(self, number: int) -> None:
        while number not in self._begun:
            self._read()

    def close(self) -> None:
        self._process.kill()
        self._process.wait(timeout=20)

    def _ask(self, method: str, parameters: dict[str, Any]) -> int:
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": parameters}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        return self._last

    def _read(self) -> None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the server is gone"
        message = json.loads(line)
        if message.get("method") == "notifications/progress":
            self._begun.add(message["params"]["progressToken"])
        elif "id" in message:
            self._answers[message["id"]] = message


@pytest.fixture
def client(engine: Engine) -> Iterator[Client]:
    client = Client(engine)
    yield client
    client.close()


def test_what_runs_ends_what_is_local_goes_on_and_all_is_back_with_it(
    engine: Engine, client: Client
) -> None:
    running = [client.call(SLEEPS, use_container=True) for _ in range(2)]
    for each in running:
        client.await_output(each)
    engine.kill()
    for each in running:
        outcome = client.answer(each)["structuredContent"]
        assert outcome["status"] == "killed", outcome
        assert outcome["stdout"] == "begun\n"
        assert "start it" in outcome["error"]["hint"], outcome["error"]

    local = client.answer(client.call("6 * 7", use_container=False))
    assert local["structuredContent"]["result"] == 42
    refused = client.answer(client.call("6 * 7", use_container=True))
    assert refused["isError"]
    (content,) = refused["content"]
    assert str(engine.socket) in content["text"]
    assert "start" in content["text"]

    engine.tell("start")
    until(lambda: not client.answer(client.call("6 * 7", use_container=True)).get("isError"))
    until(lambda: len(engine.containers()) == 1, engine.containers)  # the spare
