"""Workers are clones of one zygote: whatever draws random numbers in it draws others in each."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from tests.network.conftest import PACKAGES, PROGRAM
from tests.network.session import Session

PYTHON = os.environ.get("BELLJAR_PYTHON", "/usr/bin/python3")
WORKERS = 6

# Each line is a generator of its own.
DRAWS = """
import email.utils, os, random, secrets, ssl, uuid
print("RAND_bytes", ssl.RAND_bytes(16).hex())
print("secrets", secrets.token_hex(16))
print("random", random.random())
print("Random", random.Random().random())
print("SystemRandom", random.SystemRandom().random())
print("uuid4", uuid.uuid4())
print("uuid1", uuid.uuid1())
print("urandom", os.urandom(16).hex())
print("message id", email.utils.make_msgid())
"""

# The random of a ClientHello: 32 bytes behind the record's, the message's and the version's bytes.
CLIENT_RANDOM = """
import ssl
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="allowed.test")
try:
    client.do_handshake()
except ssl.SSLWantReadError:
    hello = outgoing.read()
print("client random", hello[11:43].hex())
print("session id", hello[44:76].hex())
"""

MASKS = """
from aiohttp._websocket.writer import WebSocketWriter
masks = WebSocketWriter.__init__.__kwdefaults__["random"]
"""

# The key of a handshake and the masks of what follows.
WEB_SOCKETS = """
MASKS
import httpx, urllib3.filepost, websocket._handshake, websockets.utils
print("aiohttp's masks", masks.random())
print("websocket-client's key", websocket._handshake._create_sec_websocket_key())
print("websockets' key", websockets.utils.generate_key())
print("urllib3's boundary", urllib3.filepost.choose_boundary())
request = httpx.Request("POST", "http://a/", files={"a": b""})
print("httpx's boundary", request.headers["content-type"])
""".replace("MASKS", MASKS)

# Every generator that is in memory, whoever holds it, and its state.
SWEEP = """
import gc, hashlib, random
gc.unfreeze()
states = [each.getstate() for each in gc.get_objects() if type(each) is random.Random]
print(len(states), *sorted(hashlib.sha256(repr(state).encode()).hexdigest() for state in states))
"""


@pytest.fixture(scope="module")
def zygote(packages: None) -> Iterator[Session]:
    """One server, and so one zygote."""
    session = Session(PROGRAM, "--profile", "network", "--policy", "off", "--spares", str(WORKERS))
    yield session
    session.close()


def drawn(zygote: Session, program: str) -> list[str]:
    """What it prints in each of WORKERS workers, some of them at the same time."""
    outcomes = [each.result(100) for each in [zygote.start(program) for _ in range(WORKERS)]]
    assert [outcome["status"] for outcome in outcomes] == ["ok"] * WORKERS, outcomes[0]["error"]
    return [outcome["stdout"] for outcome in outcomes]


def assert_all_different(printed: list[str]) -> None:
    for lines in zip(*(each.splitlines() for each in printed), strict=True):
        assert len(set(lines)) == len(printed), lines[0]


@pytest.mark.parametrize(
    "program", [DRAWS, CLIENT_RANDOM, WEB_SOCKETS], ids=["library", "TLS", "packages"]
)
def test_no_two_workers_draw_the_same(zygote, program):
    assert_all_different(drawn(zygote, program))


def test_no_generator_is_left_out(zygote):
    sweeps = [line.split() for line in drawn(zygote, SWEEP)]
    assert int(sweeps[0][0]) >= 2, "the library's own, and one that a package holds"
    states = [state for _, *found in sweeps for state in found]
    assert len(set(states)) == len(states)


def test_the_control_children_that_are_not_seeded_draw_the_same(packages):
    """What a fork without Belljar's seeding does: the program would see a shared state."""
    program = f"""
import os, sys
sys.path.insert(0, {str(PACKAGES)!r})
{MASKS}
for _ in range(2):
    if os.fork() == 0:
        print(masks.random(), flush=True)
        os._exit(0)
    os.wait()
"""
    done = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True, check=True)
    first, second = done.stdout.split()
    assert first == second
