"""Makes the namespaces that it is started in a machine whose internet is world.py, until its
standard input ends: `unshare --net --mount python -m tests.network.stage FOLDER`.

There the name server of world.py is the only one, FOLDER/authority.pem the only root certificate,
and a server on every address of the machine, port 80, is no business of any guest's: who came to it
is in FOLDER/intruders.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

from tests.network import world


def _mount_over(target: str, source: Path) -> None:
    subprocess.run(["mount", "--bind", source, os.path.realpath(target)], check=True)


def _set_the_scene(folder: Path) -> None:
    (folder / "resolv.conf").write_text(
        f"nameserver {world.NAME_SERVER}\noptions timeout:2 attempts:2\n"
    )
    (folder / "nsswitch.conf").write_text("hosts: files dns\n")
    roots = folder / "roots"
    roots.mkdir(exist_ok=True)
    shutil.copy(folder / "authority.pem", roots / "ca-certificates.crt")
    _mount_over("/etc/resolv.conf", folder / "resolv.conf")
    _mount_over("/etc/nsswitch.conf", folder / "nsswitch.conf")
    _mount_over("/etc/ssl/certs", roots)


def _serve_inside(intruders: Path) -> None:
    listener = socket.create_server(("::", 80), family=socket.AF_INET6, dualstack_ipv6=True)
    while True:
        connection, _ = listener.accept()
        with connection, intruders.open("a") as log:
            log.write("one\n")
            log.flush()
            connection.recv(4096)  # unread, it would reset the connection
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\ninside")


def _ip(*command: str) -> None:
    subprocess.run(["ip", *command], check=True)


def _connect(folder: Path) -> subprocess.Popen[str]:
    """The world, at the other end of a cable."""
    behind = subprocess.Popen(
        ["unshare", "--net", sys.executable, "-m", "tests.network.world", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert behind.stdin is not None and behind.stdout is not None
    assert behind.stdout.readline() == "here\n"
    _ip("link", "set", "lo", "up")
    _ip("link", "add", "cable", "type", "veth", "peer", "name", "world", "netns", str(behind.pid))
    _ip("addr", "add", f"{world.OWN}/24", "dev", "cable")
    _ip("addr", "add", f"{world.OWN_V6}/64", "dev", "cable", "nodad")
    _ip("link", "set", "cable", "up")
    behind.stdin.write("connected\n")
    behind.stdin.flush()
    assert behind.stdout.readline() == "ready\n"
    return behind


def main(folder: Path) -> None:
    _set_the_scene(folder)
    behind = _connect(folder)
    threading.Thread(target=_serve_inside, args=(folder / "intruders",), daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()
    behind.kill()
    behind.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
