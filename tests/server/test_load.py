"""Many connections, many calls, the zygote killed meanwhile: no answer is lost or crossed."""

import asyncio
import os
import resource
import time

import pytest

from tests.server.load import Server, children_of, load, status_of


@pytest.fixture(autouse=True)
def descriptors():
    """A socket for each client."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def check_nothing_is_left(server: Server, spares: int, before: int) -> None:
    """Of what came and went: only the spares and one zygote remain, and as many descriptors."""
    server.wait_until(lambda: server.is_idle(), "idle again")
    server.wait_until(lambda: server.descriptors() <= before, f"back to {before} descriptors")
    children = children_of(server.pid)
    states = {pid: status_of(pid).get("State", "gone") for pid in children}
    assert not [pid for pid, state in states.items() if state.startswith("Z")], states
    assert len(server.zygotes()) == 1
    assert len(children) == 1 + spares, states
    assert server.session() == children, "something hangs elsewhere"


def run_load(connections: int, calls: int, kills: int) -> None:
    with Server() as server:
        asyncio.run(load(server, 4, 20, 0))  # what is made on first use is there
        server.wait_until(server.is_idle, "idle")
        spares, before = int(server.metric("belljar_spares_wanted")), server.descriptors()
        counted = server.metric("belljar_executions_total")

        start = time.monotonic()  # clock: reported
        tally = asyncio.run(load(server, connections, calls, kills))
        seconds = time.monotonic() - start

        times = sorted(tally.times)
        print(
            f"\n{connections} connections, {calls} calls, {tally.killed} zygotes killed:",
            f"{seconds:.1f} s, {calls / seconds:.0f}/s, {tally.refused} refusals,",
            f"p50 {times[len(times) // 2]:.3f} s, p99 {times[len(times) * 99 // 100]:.3f} s",
        )
        assert not tally.wrong, tally.wrong[:5]
        assert tally.right == set(range(1, calls + 1))
        assert tally.killed == kills
        assert server.metric("belljar_executions_total") - counted == calls
        check_nothing_is_left(server, spares, before)
        again = asyncio.run(load(server, 4, 20, 0))
        assert len(again.right) == 20, again.wrong
        server.process.terminate()
        assert server.process.wait(30) == 0
        assert server.process.stdout.read() == b""
        assert not server.session(), "it leaves nothing behind"


def a_thousand_connections() -> None:
    run_load(connections=1000, calls=20_000, kills=5)


@pytest.mark.timeout(900)
def test_many_connections_and_killed_zygotes():
    if os.environ.get("CI") == "true":
        a_thousand_connections()
    else:
        run_load(connections=200, calls=2000, kills=1)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_thousand_connections_and_killed_zygotes():
    a_thousand_connections()
