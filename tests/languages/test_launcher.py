"""The launcher fails closed: of a start message that is not whole it reads nothing."""

import os
import socket
import subprocess

import pytest

from tests.clocks import HANG
from tests.machine import BELLJAR


def answer_to(message: bytes) -> tuple[str, int]:
    """What it says of that message, and its exit code."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(HANG)
    launcher = BELLJAR.with_name("belljar-launcher")
    # It has its socket as descriptor 3.
    process = subprocess.Popen(
        ["bash", "-c", f'exec "$0" 3<&{theirs.fileno()}', launcher], pass_fds=[theirs.fileno()]
    )
    theirs.close()
    file = os.memfd_create("start")
    os.write(file, message)
    os.lseek(file, 0, os.SEEK_SET)
    socket.send_fds(ours, [b"start"], [file])
    os.close(file)
    answer = ours.recv(65536).decode()
    ours.close()
    return answer, process.wait(HANG)


@pytest.mark.parametrize(
    "message",
    [b"", bytes(7), bytes(8), bytes(1000), b"\xff" * 1000, b'{"single_run": false, "seal": "{}"}'],
    ids=["nothing", "half a number", "a number", "zeros", "ones", "JSON"],
)
def test_what_is_no_start_message_starts_nothing(message: bytes) -> None:
    assert answer_to(message) == ("read start message: malformed", 1)
