"""A server process, and many clients of it that cost little: raw sockets, keep-alive."""

import asyncio
import json
import os
import random
import resource
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.clocks import until

PROGRAM = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve() / "belljar"
REVISION = "2026-07-28"


# --- processes ------------------------------------------------------------------------------------


def status_of(pid: int) -> dict[str, str]:
    """The fields of /proc/PID/status; empty once the process is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def processes() -> Iterator[int]:
    return (int(entry) for entry in os.listdir("/proc") if entry.isdigit())


def children_of(pid: int) -> set[int]:
    return {other for other in processes() if status_of(other).get("PPid") == str(pid)}


def session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return -1


def is_zygote(pid: int) -> bool:
    """The zygote lives in the server's own PID namespace, its workers each in another below it."""
    status = status_of(pid)
    return status.get("Name") == "belljar-zygote" and len(status["NSpid"].split()) == 1


class Server:
    """`belljar serve --http` on a free port, as the leader of a session of its own."""

    def __init__(self, *arguments: str, descriptors: int = 1024):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        # As a shell would start it: few descriptors, and more for who asks.
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--http", f"127.0.0.1:{self.port}", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard)),
        )
        self.pid = self.process.pid

    def __enter__(self) -> "Server":
        self.wait_until(lambda: self.get("/readyz")[0] == 200, "ready")
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()

    def get(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as got:
                return got.status, got.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""
        except OSError:
            return 0, ""

    def wait_until(self, condition, what: str) -> None:
        def is_so() -> bool:
            assert self.process.poll() is None, f"the server ended by itself: {what}"
            return condition()

        until(is_so, what)

    def metric(self, name: str) -> float:
        """The sum over all series of that name."""
        lines = self.get("/metrics")[1].splitlines()
        values = [line.rpartition(" ")[2] for line in lines if line.partition("{")[0] == name]
        values += [line.split()[1] for line in lines if line.split()[:1] == [name]]
        return sum(map(float, values))

    def is_idle(self) -> bool:
        """No connection but the one that asks, and every spare waits."""
        return (
            self.metric("belljar_http_connections") <= 1
            and self.metric("belljar_calls_running") == 0
            and self.metric("belljar_spares_waiting") == self.metric("belljar_spares_wanted")
        )

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def zygotes(self) -> set[int]:
        return {pid for pid in children_of(self.pid) if is_zygote(pid)}

    def session(self) -> set[int]:
        """Everything that this server has started, wherever it hangs now; not the server."""
        return {pid for pid in processes() if session_of(pid) == self.pid} - {self.pid}


# --- clients --------------------------------------------------------------------------------------


@dataclass
class Tally:
    wanted: int
    given: int = 0  # numbers handed out
    right: set[int] = field(default_factory=set)
    killed: int = 0  # zygotes
    refused: int = 0  # overload, tried again
    wrong: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)  # seconds, of calls that were not refused


def value_of(number: int) -> int:
    return number * 7919 + 13


def request(port: int, number: int) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {
        "_meta": meta,
        "name": "execute_code",
        "arguments": {"code": f"n = {number}\nprint(n)\nresult = n * 7919 + 13"},
    }
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    body = json.dumps(message).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {REVISION}\r\n"
        f"Mcp-Method: tools/call\r\nMcp-Name: execute_code\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def read_answer(reader: asyncio.StreamReader) -> dict:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = head.partition("content-length:")[2].partition("\r\n")[0]
    assert length, f"no Content-Length: {head}"
    return json.loads(await reader.readexactly(int(length)))


def retry_after(answer: dict) -> float | None:
    """Seconds, when that was the answer of a server with too much to do."""
    data = answer.get("error", {}).get("data")
    return data.get("retry_after") if isinstance(data, dict) else None


def is_right(answer: dict, number: int) -> bool:
    result = answer.get("result", {}).get("structuredContent", {})
    return (
        answer.get("id") == number
        and result.get("result") == value_of(number)
        and result.get("stdout") == f"{number}\n"
    )


async def call(reader, writer, port: int, number: int, tally: Tally) -> None:
    message = request(port, number)
    while True:
        start = time.monotonic()  # clock: reported
        writer.write(message)
        answer = await read_answer(reader)
        wait = retry_after(answer)
        if wait is None:
            break
        assert answer["id"] == number, answer
        tally.refused += 1
        await asyncio.sleep(random.uniform(0.1, 1) * wait)  # sleeps: as it was told
    # clock: reported
    tally.times.append(time.monotonic() - start)
    if is_right(answer, number) and number not in tally.right:
        tally.right.add(number)
    else:
        tally.wrong.append(f"{number}: {json.dumps(answer)[:1000]}")


async def client(port: int, tally: Tally, ready: asyncio.Barrier) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        await ready.wait()  # all are connected before the first asks
        while tally.given < tally.wanted:
            tally.given += 1
            await call(reader, writer, port, tally.given, tally)
    except (OSError, asyncio.IncompleteReadError) as error:
        tally.wrong.append(f"a connection has ended: {error!r}")
    finally:
        writer.close()


async def kill_zygotes(server: Server, tally: Tally, kills: int) -> None:
    """SIGKILLs the zygote so many times, spread over the calls."""
    for turn in range(1, kills + 1):
        while len(tally.right) < turn * tally.wanted // (kills + 1):
            await asyncio.sleep(0.01)  # sleeps: calls go on meanwhile
        for pid in await asyncio.to_thread(server.zygotes):
            os.kill(pid, signal.SIGKILL)
            tally.killed += 1


async def load(server: Server, connections: int, calls: int, kills: int) -> Tally:
    tally = Tally(calls)
    ready = asyncio.Barrier(connections)
    killer = asyncio.create_task(kill_zygotes(server, tally, kills))
    await asyncio.gather(*(client(server.port, tally, ready) for _ in range(connections)))
    killer.cancel()
    return tally
