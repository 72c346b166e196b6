"""A small internet behind a virtual cable: a name server, and hosts at public addresses.

Run by stage.py in a network namespace of its own: `python -m tests.network.world FOLDER`. FOLDER
has the certificates; the names that were asked for are written to FOLDER/asked.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiosmtpd import controller as smtp_controller
from websockets.sync import server as websocket_server

from tests.network import servers

NAME_SERVER = "93.184.216.53"
HOSTS = {  # certificate -> address: each is served by hosts of its own
    "good": "93.184.216.34",
    "another-name": "93.184.216.35",
    "self-signed": "93.184.216.36",
    "strange-authority": "93.184.216.37",
}
GOOD_V6 = "2606:2800:220:1::34"
OWN = "93.184.216.1"  # of the machine that Belljar runs on
OWN_V6 = "2606:2800:220:1::1"

# Name -> what the name server says, the first time, the second, …; the last one from then on.
NAMES: dict[str, list[list[str]]] = {
    "good.test": [[HOSTS["good"]]],
    "another-name.test": [[HOSTS["another-name"]]],
    "self-signed.test": [[HOSTS["self-signed"]]],
    "strange-authority.test": [[HOSTS["strange-authority"]]],
    "six.test": [[GOOD_V6]],
    "alias.test": [["CNAME second.test"]],
    "second.test": [["CNAME good.test"]],
    "mixed.test": [["127.0.0.1", "10.0.0.1", HOSTS["good"], "::1"]],
    "rebinding.test": [[HOSTS["good"]], ["127.0.0.1"]],
    # From here on: ways to the machine itself, or to what only it should reach.
    "loopback.test": [["127.0.0.1"]],
    "loopback-8.test": [["127.99.1.2"]],
    "loopback-6.test": [["::1"]],
    "alias-inside.test": [["CNAME loopback.test"]],
    "mapped.test": [["::ffff:127.0.0.1"]],
    "zero.test": [["0.0.0.0"]],
    "zero-6.test": [["::"]],
    "own.test": [[OWN]],
    "own-6.test": [[OWN_V6]],
    "own-mapped.test": [[f"::ffff:{OWN}"]],
    "compatible.test": [["::127.0.0.1"]],
    "nat64.test": [["64:ff9b::7f00:1"]],
    "6to4.test": [["2002:7f00:1::"]],
    "teredo.test": [["2001:0:7f00:1::1"]],
    "metadata.test": [["169.254.169.254"]],
    "metadata-6.test": [["fd00:ec2::254"]],
    "private.test": [["10.1.2.3", "172.16.0.1", "192.168.1.1", "fc00::1"]],
    "link-local.test": [["fe80::1"]],
    "broadcast.test": [["255.255.255.255"]],
}

_TYPES = {1: 4, 28: 6}  # A, AAAA: the version of the address
_CNAME = 5


# --- the name server --------------------------------------------------------------------------


def _wire(name: str) -> bytes:
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


class NameServer:
    """As much of RFC 1035 as a stub resolver asks for, over UDP."""

    def __init__(self, asked: Path) -> None:
        self._asked = asked
        self._times: dict[str, int] = {}

    def answer(self, query: bytes) -> bytes:
        labels, at = [], 12
        while size := query[at]:
            labels.append(query[at + 1 : at + 1 + size].decode())
            at += 1 + size
        name = ".".join(labels).lower()
        (kind,) = struct.unpack("!H", query[at + 1 : at + 3])
        with self._asked.open("a") as log:
            log.write(f"{name}\n")
        found = self._records(name, kind)
        code = 0 if found is not None else 3  # NXDOMAIN
        records = b"".join(
            _wire(owner) + struct.pack("!HHIH", what, 1, 0, len(data)) + data
            for owner, what, data in found or []
        )
        flags = 0x8580 | code  # an authoritative answer, recursion as asked for
        head = query[:2] + struct.pack("!HHHHH", flags, 1, len(found or []), 0, 0)
        return head + query[12 : at + 5] + records

    def _records(self, name: str, kind: int) -> list[tuple[str, int, bytes]] | None:
        """Aliases and addresses of that kind; nothing lives longer than the answer."""
        if name not in NAMES:
            return None
        answers = NAMES[name]
        turn = self._times.get(name, 0)
        if kind == 1:  # each look-up asks for both kinds
            self._times[name] = turn + 1
        found: list[tuple[str, int, bytes]] = []
        for text in answers[min(turn, len(answers) - 1)]:
            if text.startswith("CNAME "):
                target = text.removeprefix("CNAME ")
                found += [(name, _CNAME, _wire(target)), *(self._records(target, kind) or [])]
            elif ipaddress.ip_address(text).version == _TYPES.get(kind):
                found.append((name, kind, ipaddress.ip_address(text).packed))
        return found

    def serve(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind((NAME_SERVER, 53))
            while True:
                query, peer = sock.recvfrom(4096)
                sock.sendto(self.answer(query), peer)


# --- the hosts --------------------------------------------------------------------------------


@dataclass
class _Inbox:
    async def handle_DATA(self, *_: Any) -> str:  # noqa: N802
        return "250 OK"


def _echo(connection: Any) -> None:
    for message in connection:
        connection.send(message)


def _context(folder: Path, certificate: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{certificate}.pem", folder / f"{certificate}.key")
    return context


def _in_background(serve: Any) -> None:
    threading.Thread(target=serve, daemon=True).start()


def serve_host(stack: contextlib.ExitStack, address: str, context: ssl.SSLContext,
               folder: Path) -> None:  # fmt: skip
    """Every protocol that has TLS, at the ports where it belongs."""
    stack.enter_context(servers.http_server(address=(address, 80)))
    stack.enter_context(servers.http_server(context, address=(address, 443)))
    stack.enter_context(servers.ftp_server(folder, address=(address, 21), context=context))
    for port, tls in ((8080, None), (8443, context)):
        _in_background(websocket_server.serve(_echo, address, port, ssl=tls).serve_forever)
    mail = smtp_controller.Controller
    mail(_Inbox(), hostname=address, port=25, tls_context=context).start()
    mail(_Inbox(), hostname=address, port=465, ssl_context=context).start()


def main(folder: Path) -> None:
    # stage.py hands the cable's end to this process's namespace.
    print("here", flush=True)
    sys.stdin.readline()
    commands = [["link", "set", "lo", "up"]]
    for address in [*HOSTS.values(), NAME_SERVER]:
        commands.append(["addr", "add", f"{address}/24", "dev", "world"])
    commands.append(["addr", "add", f"{GOOD_V6}/64", "dev", "world", "nodad"])
    commands.append(["link", "set", "world", "up"])
    for command in commands:
        subprocess.run(["ip", *command], check=True)
    with contextlib.ExitStack() as stack:
        for certificate, address in HOSTS.items():
            serve_host(stack, address, _context(folder, certificate), folder)
        stack.enter_context(servers.http_server(address=(GOOD_V6, 80)))
        _in_background(NameServer(folder / "asked").serve)
        print("ready", flush=True)
        sys.stdin.read()  # until stage.py is gone
        os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
