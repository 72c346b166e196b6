"""Names and addresses: what a hostile name server says does not bring a guest inside."""

from __future__ import annotations

import pytest

from tests.network import world

FETCH = """
    import urllib.request
    print(urllib.request.urlopen("http://{host}/", timeout=10).read().decode())
"""
CONNECT = """
    import socket
    with socket.create_connection(("{host}", 80), timeout=10) as connection:
        connection.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
        print(connection.recv(100).decode())
"""
WAYS_INSIDE = list(world.NAMES)[list(world.NAMES).index("loopback.test") :]
# To these a plain program on this machine comes to the same server.
REACHES_INSIDE = (
    "loopback.test loopback-8.test loopback-6.test alias-inside.test mapped.test zero.test "
    "zero-6.test own.test own-6.test own-mapped.test"
).split()


@pytest.mark.parametrize(
    "host", ["good.test", "six.test", "alias.test", "GOOD.test.", "mixed.test"]
)
def test_a_public_address_is_reached_by_name(stage, host):
    before = stage.intruders()
    outcome = stage.run(FETCH.format(host=host))
    assert '"path": "/"' in outcome.stdout
    (event,) = outcome.network
    assert event["detail"] in (world.HOSTS["good"], world.GOOD_V6)
    assert stage.intruders() == before


@pytest.mark.parametrize("host", REACHES_INSIDE)
def test_the_control_a_plain_program_comes_inside(stage, host):
    before = stage.intruders()
    assert stage.plain(FETCH.format(host=host)) == "inside\n"
    assert stage.intruders() == before + 1


@pytest.mark.parametrize("host", WAYS_INSIDE)
def test_no_answer_of_a_name_server_leads_inside(stage, host):
    before, asked = stage.intruders(), len(stage.asked())
    for program in (FETCH, CONNECT):
        outcome = stage.run(program.format(host=host))
        assert outcome.error
        (event,) = outcome.network
        assert not event["allowed"]
        assert f"{host}:80 leads to " in event["detail"]
    assert host in stage.asked()[asked:], (
        "the name was looked up: it was the address that was refused"
    )
    assert stage.intruders() == before


def test_a_name_that_changes_its_mind_is_judged_each_time(stage):
    before = stage.intruders()
    first = stage.run(FETCH.format(host="rebinding.test"))
    assert first.network[0]["detail"] == world.HOSTS["good"]
    second = stage.run(FETCH.format(host="rebinding.test"))
    assert "403" in second.error
    assert "leads to 127.0.0.1, which is loopback" in second.network[0]["detail"]
    assert stage.intruders() == before


def test_a_name_is_looked_up_once_a_connection(stage):
    """What was judged is what is connected to: no second answer comes in between."""
    before = len(stage.asked())
    assert stage.run(FETCH.format(host="good.test")).network[0]["allowed"]
    asked = stage.asked()[before:]
    assert asked == ["good.test"] * 2, "once for IPv4, once for IPv6"


def test_a_name_that_is_refused_is_not_looked_up(stage):
    """What a guest asks for is told to no name server."""
    before = len(stage.asked())
    outcome = stage.run(FETCH.format(host="secret.elsewhere.test"), allowed_domains=["good.test"])
    assert "403" in outcome.error
    assert stage.asked()[before:] == []


def test_a_name_that_is_not_there_says_so(stage):
    outcome = stage.run(FETCH.format(host="missing.test"))
    assert "502" in outcome.error
    assert "missing.test:80 was not found: " in outcome.network[0]["detail"]


LITERALS = """
    127.0.0.1 127.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127.0.0.1. 0 0.0.0.0
    [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::]
    [0:0:0:0:0:ffff:7f00:0001] 93.184.216.1 [::ffff:93.184.216.1]
""".split()


@pytest.mark.parametrize("host", LITERALS)
def test_no_literal_is_a_name(stage, host):
    """The list of these runs allows every name; an address would have to be listed as one."""
    before, asked = stage.intruders(), len(stage.asked())
    for program in (FETCH, CONNECT):
        outcome = stage.run(program.format(host=host if program is FETCH else host.strip("[]")))
        assert outcome.error
        assert not any(event["allowed"] for event in outcome.network)
    assert stage.intruders() == before
    assert stage.asked()[asked:] == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "[::1]",
             "[::ffff:127.0.0.1]", "93.184.216.1"],
)  # fmt: skip
def test_the_control_a_plain_program_takes_them_for_this_machine(stage, host):
    assert stage.plain(FETCH.format(host=host)) == "inside\n"
