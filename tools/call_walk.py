#!/usr/bin/env python3
"""Print the source files that one call crosses in the host process, in the order of first use.

    python3 tools/call_walk.py build/release/belljar [stdio|rest|cell|container]

Makes a few calls so that nothing is new, then has the kernel run one more, an instruction at a
time (ptrace, x86-64). A header counts if it has no .cc file. "then" marks files used only once the
client has its answer; over HTTP some of that work, and timers, run meanwhile. `container` needs an
image.
"""

import ctypes
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = re.compile(r"\b((?:cli|container|engine|server)/[\w/]+\.(?:cc|h)):(\d+)")
# Functions and tables of values, which are no steps of a call.
UTILITY = re.compile(
    r"engine/(core|http1|waiting)/|server/json_rpc/"
    r"|engine/host/(base64|digest|\w*fields|json_reader|random|suggest)\."
)
RUN = {"code": "print(6 * 7)\n6 * 7"}
# Settings, the path to post to over HTTP, and what is sent.
CALLS = {
    "stdio": ({}, "", RUN),
    "rest": ({}, "/v1/executions", RUN),
    "cell": ({"BELLJAR_FRONTS_SANDBOX_FUSION": "basic"}, "/run_jupyter", {"cells": [RUN["code"]]}),
    "container": ({"BELLJAR_CONTAINER_ENABLED": "true"}, "", RUN | {"use_container": True}),
}
PEEK, STEP, SEIZE, INTERRUPT = 3, 9, 0x4206, 0x4207
TRACE_CLONE, WAIT_ALL, PROGRAM_COUNTER = 8, 1 << 30, 8 * 16
QUIET = 0.1  # seconds without an instruction after which a call is over; timers are slower

libc = ctypes.CDLL(None)
libc.ptrace.argtypes, libc.ptrace.restype = [ctypes.c_long] * 4, ctypes.c_long


def answer(client: socket.socket, wait: float = 60) -> bytes:
    """What arrives until nothing more does."""
    data = b""
    while select.select([client], [], [], wait)[0] and (more := client.recv(1 << 20)):
        data, wait = data + more, 0.2
    return data


def start(program: str, kind: str) -> tuple[subprocess.Popen, socket.socket, bytes]:
    """A server, a connection of a client, and what the client sends for a call."""
    settings, path, arguments = CALLS[kind]
    command, environment = [program, "serve"], os.environ | settings
    if not path:
        client, inside = socket.socketpair()
        server = subprocess.Popen(command, stdin=inside, stdout=inside, env=environment)
        call = {"name": "execute_code", "arguments": arguments}
        rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        return server, client, json.dumps(rpc).encode() + b"\n"
    with socket.create_server(("127.0.0.1", 0)) as free:
        place = free.getsockname()
    address, body = f"127.0.0.1:{place[1]}", json.dumps(arguments)
    server = subprocess.Popen([*command, "--http", address], env=environment)
    with socket.socket() as probe:
        while server.poll() is None and probe.connect_ex(place):
            time.sleep(0.1)
    head = f"POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
    text = f"{head}Content-Length: {len(body)}\r\n\r\n{body}"
    return server, socket.create_connection(place), text.encode()


def step(client: socket.socket, has_answer: bool) -> dict[int, bool]:
    """Steps all threads until they are quiet and there is an answer: address -> was there one?"""
    seen: dict[int, bool] = {}
    steps, quiet_since = 0, time.monotonic()
    while True:
        thread, status = os.waitpid(-1, os.WNOHANG | WAIT_ALL)
        if not thread or steps % 32 == 0:
            has_answer = has_answer or bool(select.select([client], [], [], 0)[0])
        if not thread and has_answer and time.monotonic() - quiet_since > QUIET:
            return seen
        if not thread or not os.WIFSTOPPED(status):
            os.sched_yield()
            continue
        steps, quiet_since = steps + 1, time.monotonic()
        number, event = os.WSTOPSIG(status), status >> 16
        is_step = number == signal.SIGTRAP and not event
        if is_step:
            seen.setdefault(libc.ptrace(PEEK, thread, PROGRAM_COUNTER, 0), has_answer)
        libc.ptrace(STEP, thread, 0, 0 if is_step or event else number)


def source_of(place: str) -> str:
    found = SOURCE.search(place)
    if not found or not (ROOT / found[1]).is_file():
        return ""
    file = ROOT / found[1]
    if file.suffix == ".h":
        # Nor is what the compiler wrote a step, to copy or destroy a value.
        line = file.read_text().splitlines()[int(found[2]) - 1]
        if file.with_suffix(".cc").is_file() or re.match(r"\s*(struct|class) ", line):
            return ""
    return found[1]


def main(program: str, kind: str = "stdio") -> None:
    server, client, call = start(program, kind)
    for _ in range(5):
        client.sendall(call)
        answer(client)
        time.sleep(0.3)
    base = int(Path(f"/proc/{server.pid}/maps").read_text().partition("-")[0], 16)
    threads = [int(thread) for thread in os.listdir(f"/proc/{server.pid}/task")]
    for request, option in ((SEIZE, TRACE_CLONE), (INTERRUPT, 0)):
        if any(libc.ptrace(request, thread, 0, option) for thread in threads):
            sys.exit("this process may not trace its child")
    step(client, True)
    client.sendall(call)
    seen = {address - base: late for address, late in step(client, False).items() if address > base}
    if "42" not in answer(client, 0).decode():
        sys.exit("the call has failed")
    server.kill()
    command, addresses = ["addr2line", "-e", program], "\n".join(map(hex, seen))
    places = subprocess.run(command, input=addresses, capture_output=True, text=True, check=True)
    files: dict[str, bool] = {}
    for place, late in zip(places.stdout.splitlines(), seen.values(), strict=True):
        if file := source_of(place):
            files.setdefault(file, late)
    for heading, is_utility in (("rooms", False), ("utilities", True)):
        names = [name for name in files if bool(UTILITY.match(name)) is is_utility]
        early = sum(not files[name] for name in names)
        print(f"{heading}: {early}, then {len(names) - early}")
        print(*(f"{'  then' if files[name] else '':8}{name}" for name in names), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
