"""HTTP by the standard library and by requests and httpx: they find the egress proxy unasked."""

from __future__ import annotations

import json

import pytest

URLLIB = """
    import urllib.request
    with urllib.request.urlopen({url!r}) as answer:
        print(answer.read().decode())
"""
CLIENT = """
    import http.client
    from urllib.parse import urlsplit
    parts = urlsplit({url!r})
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    connection.request("GET", parts.path)
    print(connection.getresponse().read().decode())
"""
REQUESTS = """
    import requests
    print(requests.get({url!r}, timeout=10).text)
"""
HTTPX = """
    import httpx
    print(httpx.get({url!r}).text)
"""


@pytest.mark.parametrize("program", [URLLIB, CLIENT], ids=["urllib", "http.client"])
def test_the_library_reaches_an_allowed_host(run, http, policy, program):
    outcome = run(program.format(url=f"http://allowed.test:{http}/a"), policy=policy)
    said = json.loads(outcome.stdout)
    assert said["path"] == "/a"
    assert said["host"] == f"allowed.test:{http}"
    assert not [name for name in said["headers"] if name.lower().startswith("proxy")]
    (event,) = outcome.network
    assert (event["host"], event["port"], event["allowed"]) == ("allowed.test", http, True)
    assert event["detail"] == "127.0.0.1"
    assert event["bytes_received"] > len(outcome.stdout)


@pytest.mark.parametrize("program", [REQUESTS, HTTPX], ids=["requests", "httpx"])
def test_packages_reach_an_allowed_host(run, http, packages, policy, program):
    outcome = run(program.format(url=f"http://www.allowed.test:{http}/a"), policy=policy)
    assert json.loads(outcome.stdout)["host"] == f"www.allowed.test:{http}"
    assert [event["protocol"] for event in outcome.network] == ["http"]


@pytest.mark.parametrize("program", [URLLIB, CLIENT], ids=["urllib", "http.client"])
def test_another_host_is_refused_by_name(run, http, policy, program):
    outcome = run(program.format(url=f"http://denied.test:{http}/a"), policy=policy)
    assert "allow" in outcome.error
    (event,) = outcome.network
    assert (event["host"], event["allowed"]) == ("denied.test", False)
    assert "is not an allowed host; the operator allows " in event["detail"]


# Each prints the classes and the text of what it raises.
SAYING = """
    def say(error):
        kinds = [each.__name__ for each in type(error).__mro__[:3]]
        print(kinds, str(error).replace({url!r}, "URL"))
"""
ASKING = {
    "urllib": """
    import urllib.request
    try:
        print("response", urllib.request.urlopen({url!r}).status)
    except Exception as error:
        say(error)
""",
    "requests": """
    import requests
    try:
        print("response", requests.get({url!r}, timeout=10).status_code)
    except Exception as error:
        say(error)
""",
    "urllib3": """
    import urllib3
    try:
        pool = urllib3.ProxyManager("http://127.0.0.1:1080", retries=False)
        print("response", pool.request("GET", {url!r}).status)
    except Exception as error:
        say(error)
""",
    "httpx": """
    import httpx
    try:
        print("response", httpx.get({url!r}).status_code)
    except Exception as error:
        say(error)
""",
    "httpx async": """
    import asyncio, httpx
    async def main():
        async with httpx.AsyncClient() as client:
            return (await client.get({url!r})).status_code
    try:
        print("response", asyncio.run(main()))
    except Exception as error:
        say(error)
""",
    "aiohttp": """
    import aiohttp, asyncio
    async def main(trust_env):
        async with aiohttp.ClientSession(trust_env=trust_env) as session:
            async with session.get({url!r}) as response:
                return response.status
    for trust_env in (True, False):
        try:
            print("response", asyncio.run(main(trust_env)))
        except Exception as error:
            say(error)
""",
    "http.client": """
    import http.client
    from urllib.parse import urlsplit
    parts = urlsplit({url!r})
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(parts.hostname, parts.port)
        connection.request("GET", parts.path)
        print("response", connection.getresponse().status)
    except Exception as error:
        say(error)
""",
}


def alike(said: str) -> str:
    """Without what names the way: a tunnel is asked of the proxy, http:// of the target."""
    for way, name in (
        ("HTTPS", "HTTP"),
        ("ssl:True", "ssl:default"),
        ("host='denied.test', port=8000", "HOST"),
        ("host='127.0.0.1', port=1080", "HOST"),
        ("url: /a", "url: URL"),
        ("http://127.0.0.1:1080", "URL"),
    ):
        said = said.replace(way, name)
    return said


@pytest.mark.parametrize("client", ASKING)
def test_a_refusal_is_the_same_exception_for_http_and_https(run, packages, policy, client):
    said = []
    for scheme in ("https", "http"):
        url = f"{scheme}://denied.test:8000/a"
        program = (SAYING + ASKING[client]).replace("{url!r}", repr(url))
        outcome = run(program, policy=policy)
        assert outcome.json["status"] == "ok", outcome.json["error"]
        assert not [event for event in outcome.network if event["allowed"]]
        said.append(alike(outcome.stdout))
    assert said[0] == said[1]
    assert "response" not in said[0]
    assert "is not an allowed host" in said[0] or "does not allow it" in said[0]


@pytest.mark.parametrize("client", ["urllib", "requests", "httpx", "aiohttp"])
def test_a_403_of_the_target_is_a_response(run, http, packages, client):
    """The control: only the proxy's own answers are exceptions."""
    program = SAYING + ASKING[client]
    url = f"http://allowed.test:{http}/status?403"
    outcome = run(program.replace("{url!r}", repr(url)))
    assert "Tunnel" not in outcome.stdout and "Proxy" not in outcome.stdout
    assert "response 403" in outcome.stdout or "HTTPError" in outcome.stdout


def test_the_list_is_empty_unless_somebody_fills_it(run, http):
    outcome = run(URLLIB.format(url=f"http://allowed.test:{http}/"), domains="", private="")
    assert "403" in outcome.error


def test_a_private_address_needs_its_own_word(run, http):
    outcome = run(URLLIB.format(url=f"http://allowed.test:{http}/"), private="")
    assert "403" in outcome.error
    assert "leads to 127.0.0.1, which is loopback" in outcome.network[0]["detail"]


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]",
             "[::ffff:127.0.0.1]", "localhost", "169.254.169.254", "[fd00:ec2::254]"],
)  # fmt: skip
def test_no_spelling_of_an_address_gets_around_the_list(run, http, host):
    # A name is judged by where it leads to, an address by the list alone.
    private = "" if host == "localhost" else "127.0.0.1"
    program = URLLIB.format(url=f"http://{host}:{http}/")
    outcome = run(program, domains="*:*", private=private)
    assert outcome.json["status"] == "exception", outcome.json["stdout"]
    assert [event["allowed"] for event in outcome.network] in ([False], [])


def test_a_redirect_is_judged_anew(run, http):
    url = f"http://allowed.test:{http}/to?http://denied.test:{http}/secret"
    outcome = run(URLLIB.format(url=url))
    assert "403" in outcome.error
    assert [event["allowed"] for event in outcome.network] == [True, False]
    url = f"http://allowed.test:{http}/to?http://www.allowed.test:{http}/fine"
    assert json.loads(run(URLLIB.format(url=url)).stdout)["path"] == "/fine"


def test_a_redirect_to_a_file_opens_none(run, http):
    assert run(URLLIB.format(url=f"http://allowed.test:{http}/to?file:///etc/passwd")).error
    assert "BJ502" in run(URLLIB.format(url="file:///usr/lib/python3.11/os.py")).error


def test_posting(run, http):
    outcome = run(f"""
        import urllib.request
        request = urllib.request.Request("http://allowed.test:{http}/p", data=b"hello",
                                         headers={{"X-Mine": "1"}})
        print(urllib.request.urlopen(request).read().decode())
    """)
    said = json.loads(outcome.stdout)
    assert (said["method"], said["body"], said["headers"]["X-Mine"]) == ("POST", "hello", "1")


def test_tls_is_verified_inside(run, https, authority, policy):
    program = f"""
        import ssl, urllib.request
        context = ssl.create_default_context({{}})
        print(urllib.request.urlopen("https://allowed.test:{https}/s", context=context).status)
    """
    refused = run(program.replace("{}", ""), policy=policy)
    assert "CERTIFICATE_VERIFY_FAILED" in refused.error
    trusting = program.replace("{}", f"cadata={authority.certificate!r}")
    outcome = run(trusting, policy=policy)
    assert outcome.stdout == "200\n"
    assert outcome.network[0]["protocol"] == "connect"


def test_bytes_are_bounded(run, http):
    # 512m by default: the guest's memory ends before that, so it must not keep what it reads.
    outcome = run(
        f"""
        import urllib.request
        total = 0
        with urllib.request.urlopen("http://allowed.test:{http}/bytes?{600 << 20}") as answer:
            while block := answer.read(1 << 20):
                total += len(block)
        print(total)
    """,
    )
    assert "more bytes than a run may receive" in outcome.network[0]["detail"]
    assert outcome.network[0]["bytes_received"] <= 512 << 20


def test_a_run_that_is_killed_leaves_nothing(run, http):
    outcome = run(
        f"""
        import urllib.request
        answer = urllib.request.urlopen("http://allowed.test:{http}/bytes?{64 << 20}")
        while True:
            pass
    """,
        timeout=1,
    )
    assert outcome.json["status"] == "timeout"
    (event,) = outcome.network
    assert event["allowed"]
    assert 0 < event["bytes_received"] < 64 << 20


def test_many_connections_close_the_egress_proxy(run):
    outcome = run("""
        import socket
        for _ in range(300):
            try:
                socket.create_connection(("denied.test", 80), timeout=5).close()
            except OSError as error:
                last = type(error).__name__
        print(last)
    """)
    assert outcome.stdout in ("ConnectionRefusedError\n", "ConnectionResetError\n")
    assert outcome.json["truncated"]["network"] >= 57
