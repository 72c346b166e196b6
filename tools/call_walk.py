#!/usr/bin/env python3
"""Print the source files that one call crosses in the host process, in the order of first use.

    python3 tools/call_walk.py build/release/belljar [stdio|rest|cell|container]

Starts a server, makes a few calls so that nothing is new, then has the kernel run one more call
instruction by instruction (ptrace), with the line numbers that the tree `release` has. A header
counts if it has no .cc file. "then" marks files used only once the client has its answer; over
HTTP some of that work, and periodic timers, run meanwhile. `container` needs an image
(docs/containers.md).
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
PROGRAM = "print(6 * 7)\n6 * 7"
POSTED = {
    "rest": ("/v1/executions", {"code": PROGRAM}),
    "cell": ("/run_jupyter", {"cells": [PROGRAM]}),
}
SETTINGS = {
    "cell": {"BELLJAR_FRONTS_SANDBOX_FUSION": "basic"},
    "container": {"BELLJAR_CONTAINER_ENABLED": "true"},
}
SEIZE, INTERRUPT, STEP, GET_REGISTERS, TRACE_CLONE, WAIT_ALL = 0x4206, 0x4207, 9, 0x4204, 8, 1 << 30
PROGRAM_COUNTER = 16 if os.uname().machine == "x86_64" else 32
QUIET = 0.1  # seconds without an instruction after which a call is over; timers are slower

libc = ctypes.PyDLL(None, use_errno=True)
libc.ptrace.argtypes, libc.ptrace.restype = [ctypes.c_long] * 4, ctypes.c_long


def ptrace(request: int, thread: int, address: int = 0, data: int = 0) -> None:
    if libc.ptrace(request, thread, address, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")


def message(method: str, params: dict) -> bytes:
    rpc = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return json.dumps(rpc).encode() + b"\n"


def answer(client: socket.socket, wait: float = 60) -> bytes:
    """What arrives until nothing more does."""
    data = b""
    while select.select([client], [], [], wait)[0] and (more := client.recv(1 << 20)):
        data, wait = data + more, 0.2
    return data


def start(program: str, kind: str) -> tuple[subprocess.Popen, socket.socket, bytes]:
    """A server, a connection of a client, and what the client sends for a call."""
    command, environment = [program, "serve"], os.environ | SETTINGS.get(kind, {})
    if kind not in POSTED:
        client, inside = socket.socketpair()
        server = subprocess.Popen(command, stdin=inside, stdout=inside, env=environment)
        info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
        client.sendall(message("initialize", info))
        answer(client)
        arguments = {"code": PROGRAM} | ({"use_container": True} if kind == "container" else {})
        call = {"name": "execute_code", "arguments": arguments}
        return server, client, message("tools/call", call)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen([*command, "--http", f"127.0.0.1:{port}"], env=environment)
    with socket.socket() as probe:
        while server.poll() is None and probe.connect_ex(("127.0.0.1", port)):
            time.sleep(0.1)
    path, body = POSTED[kind][0], json.dumps(POSTED[kind][1])
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    text = f"{head}Content-Length: {len(body)}\r\n\r\n{body}"
    return server, socket.create_connection(("127.0.0.1", port)), text.encode()


def step(client: socket.socket, has_answer: bool) -> dict[int, bool]:
    """Steps all threads until the client has its answer and they are quiet.

    Returns the addresses of their instructions, and whether there was an answer by then.
    """
    seen: dict[int, bool] = {}
    registers = (ctypes.c_ulonglong * 64)()
    size = ctypes.sizeof(registers)
    vector = (ctypes.c_ulonglong * 2)(ctypes.addressof(registers), size)
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
            vector[1] = size
            ptrace(GET_REGISTERS, thread, 1, ctypes.addressof(vector))
            seen.setdefault(registers[PROGRAM_COUNTER], has_answer)
        ptrace(STEP, thread, 0, 0 if is_step or event else number)


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
    for thread in threads:
        ptrace(SEIZE, thread, 0, TRACE_CLONE)
    for thread in threads:
        ptrace(INTERRUPT, thread)
    step(client, True)
    client.sendall(call)
    seen = {address - base: late for address, late in step(client, False).items() if address > base}
    if "42" not in answer(client, 0).decode():
        sys.exit("the call has failed")
    server.kill()
    command = ["addr2line", "-e", program]
    addresses = "\n".join(map(hex, seen))
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
