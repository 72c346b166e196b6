"""What crowds of clients make the server hold: descriptors and memory."""

import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.clocks import until

BELLJAR = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve() / "belljar"
DESCRIPTORS = 400
MIB = 1 << 20


@contextmanager
def serving(
    descriptors: int | None = None, *options: str
) -> Iterator[tuple[subprocess.Popen, int]]:
    """The server and its port."""

    def limit() -> None:
        if descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    server = subprocess.Popen(
        [BELLJAR, "serve", "--config", "/dev/null", "--http", "127.0.0.1:0", *options],
        stderr=subprocess.PIPE,
        preexec_fn=limit,
    )
    try:
        said = server.stderr.readline()
        found = re.search(rb"127\.0\.0\.1:(\d+)/mcp", said)
        assert found, said
        yield server, int(found.group(1))
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def resident(server: subprocess.Popen) -> int:
    """Bytes."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024


def send(client: http.client.HTTPConnection, code: str) -> None:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "execute_code", "arguments": {"code": code}},
    }
    client.request(
        "POST", "/mcp", json.dumps(message), {"Content-Type": "application/json", "Accept": "*/*"}
    )


def call(client: http.client.HTTPConnection) -> dict:
    send(client, "6 * 7")
    return json.loads(client.getresponse().read())


def metric(port: int, name: str) -> float:
    """Of the spares, summed over the profiles."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    client.request("GET", "/metrics")
    text = client.getresponse().read().decode()
    client.close()
    return sum(map(float, re.findall(rf"^belljar_spares_{name}(?:{{.*}})? (\S+)$", text, re.M)))


def test_calls_have_descriptors_left_whoever_connects() -> None:
    with serving(DESCRIPTORS) as (_, port):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        assert "result" in call(client)
        crowd = [
            socket.create_connection(("127.0.0.1", port), timeout=60)
            for _ in range(2 * DESCRIPTORS)
        ]
        # More than the workers that were waiting when the crowd came.
        for _ in range(12):
            answer = call(client)
            assert answer["result"]["structuredContent"]["result"] == 42, answer
        for connection in crowd:
            connection.close()


def test_the_memory_of_long_answers_goes_back() -> None:
    with serving(None, "--answer-detail", "full") as (server, port):
        # Each answer has some 13 MB: a NUL is six bytes in JSON, and seven in JSON as a text. What
        # the first round gives back is what the later ones could keep.
        for _ in range(3):
            crowd = [http.client.HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(20)]
            for client in crowd:
                send(client, "print('\\0' * 2_000_000)")
            until(lambda: resident(server) > 150 * MIB, "no answers wait for their readers")
            time.sleep(1)  # sleeps: more of them
            for client in crowd:
                client.close()
            time.sleep(0.5)  # sleeps: the server sees that they are gone
        until(lambda: resident(server) < 100 * MIB, lambda: resident(server))


def settled_descriptors(pid: int) -> set[int]:
    """The open ones, once they have not changed for a second."""
    found: set[int] = set()
    same = 0
    while same < 20:
        time.sleep(0.05)  # sleeps: whether they stay so
        now = {int(number) for number in os.listdir(f"/proc/{pid}/fd")}
        same = same + 1 if now == found else 0
        found = now
    return found


def test_a_call_that_could_not_be_cancelled_is_refused() -> None:
    """Without a descriptor left for its cancellation. A run that started without one would go on
    to its time limit whatever its client does."""
    with serving() as (server, port):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        assert "result" in call(client)
        until(lambda: metric(port, "waiting") == metric(port, "wanted") > 0)
        before = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        # The connections of metric() are closed when the server gets to it.
        open_ones = settled_descriptors(server.pid)
        lowest_free = min(set(range(len(open_ones) + 1)) - open_ones)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (lowest_free, before[1]))
        refused = call(client)["result"]
        assert refused["isError"]
        assert "the server could not run the code" in refused["content"][0]["text"]
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)
        assert call(client)["result"]["structuredContent"]["result"] == 42
