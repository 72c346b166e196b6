"""The packages of this profile under the language policy: the ways outside that people know.

Each attack works in plain Python with the same packages. The policy promises less here than without
them (docs/policy.md, "What is not claimed"); what these try is held none the less.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.network.conftest import PACKAGES
from tests.policy import harness

ATTACKS = {
    "requests.sessions.os": "import requests\nloot = requests.sessions.os",
    "requests.utils.sys": "from requests import utils\nloot = utils.sys",
    "requests.compat": "import requests.compat\nloot = requests.compat",
    "requests.packages": "import requests\nloot = requests.packages",
    "requests.get.__globals__": "import requests\nloot = requests.get.__globals__",
    "requests' adapters by a session": """
        import requests
        loot = requests.Session().get_adapter("http://a").send.__func__.__globals__
        """,
    "urllib3.util.ssl_": "import urllib3.util.ssl_\nloot = urllib3.util.ssl_.os",
    "urllib3.util.connection.socket": "import urllib3\nloot = urllib3.util.connection.socket",
    "urllib3.connectionpool.sys": "from urllib3 import connectionpool\nloot = connectionpool",
    "httpx._client": "import httpx\nloot = httpx._client",
    "httpx's private import": "from httpx import _models\nloot = _models",
    "httpx.Client.__init__.__globals__": "import httpx\nloot = httpx.Client.__init__.__globals__",
    "aiohttp.client.os": "import aiohttp.client\nloot = aiohttp.client.os",
    "aiohttp.web serves files": "import aiohttp.web\nloot = aiohttp.web",
    "websocket._core.socket": "import websocket\nloot = websocket._core",
    "websockets.sync.client": "from websockets.sync import client\nloot = client.threading",
    "urllib.request.os": "import urllib.request\nloot = urllib.request.os",
    "http.client.socket": "import http.client\nloot = http.client.socket",
    "ftplib.socket": "import ftplib\nloot = ftplib.socket",
    "smtplib.os": "import smtplib\nloot = smtplib.sys",
    "ssl.os": "import ssl\nloot = ssl.os",
    "email.utils.os": "import email.utils\nloot = email.utils.os",
    "a frame by a hook": """
        import requests
        def hook(answer, *rest, **more):
            return answer
        session = requests.Session()
        session.hooks["response"].append(hook)
        loot = session.hooks["response"][0].__globals__
        """,
    "urlopen of a file": """
        import urllib.request
        urllib.request.urlopen("file:///etc/hostname").read()
        loot = "escaped"
        """,
    "an opener's FileHandler": """
        import urllib.request
        request = urllib.request.Request("file:///etc/hostname")
        urllib.request.build_opener().open(request).read()
        loot = "escaped"
        """,
    "urlretrieve writes a file": """
        import urllib.request
        urllib.request.urlretrieve("data:,a", "/dev/null")
        loot = "escaped"
        """,
    "a jar that is a file": """
        import http.cookiejar
        http.cookiejar.LWPCookieJar("/dev/null").save()
        loot = "escaped"
        """,
    "a mailbox": "import mailbox\nloot = 'escaped' if mailbox.mbox else 0",
    "netrc": """
        import netrc
        netrc.netrc("/dev/null")
        loot = "escaped"
        """,
    "aiohttp's cookies are pickled": """
        import aiohttp, asyncio
        async def main():
            aiohttp.CookieJar().save("/dev/null")
        asyncio.run(main())
        loot = "escaped"
        """,
    "keylog_filename writes a file": """
        import ssl
        context = ssl.create_default_context()
        context.keylog_filename = "/dev/null"
        loot = "escaped"
        """,
    # What dumps() has made in the same run is given back; bytes from elsewhere name any function.
    "requests' cookies are unpickled": """
        import pickle
        jar = pickle.loads(b"crequests.cookies\\nRequestsCookieJar\\n)R.")
        loot = "escaped"
        """,
    "subprocess by asyncio": """
        import asyncio
        async def main():
            await (await asyncio.create_subprocess_exec("/bin/true")).wait()
        asyncio.run(main())
        loot = "escaped"
        """,
    "a shell by a loop": """
        import asyncio
        async def main():
            loop = asyncio.get_running_loop()
            await loop.subprocess_shell(asyncio.SubprocessProtocol, "true")
        asyncio.run(main())
        loot = "escaped"
        """,
    "methods of the loop take an object of the program's": """
        import asyncio
        taken = []
        class Self:
            def __getattr__(self, name):
                taken.append(name)
                raise AttributeError(name)
        async def main():
            loop = type(asyncio.get_running_loop())
            for method in (loop.call_soon, loop.run_until_complete, loop.remove_reader):
                try:
                    method(Self(), print)
                except AttributeError:
                    pass
        asyncio.run(main())
        loot = "escaped" if taken else ""
        """,
    # Those of run_in_executor() are the language's own.
    "a thread of the kernel": """
        import _thread
        _thread.start_new_thread(int, ())
        loot = "escaped"
        """,
    "the socket module's own class": "import socket\nloot = 'escaped' if socket._socket else 0",
    "a socket of a descriptor": """
        import os, socket
        one, other = socket.socketpair()
        socket.socket(fileno=one.fileno())
        loot = "escaped"
        """,
    "sendfile": """
        import socket
        one, other = socket.socketpair()
        one.sendfile(open("/etc/hostname", "rb"))
        loot = "escaped"
        """,
}


@pytest.fixture(scope="module", autouse=True)
def zygotes(packages: None) -> Iterator[None]:
    """The harness's own, with these packages."""
    harness.close_all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POLICY_SET_PACKAGES", str(PACKAGES.resolve()))
        yield
    harness.close_all()


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    source = ATTACKS[name]
    plain = harness.run_plain(source, kind="plain:network")
    assert plain.loot, (plain.error, plain.message)
    ran = harness.run(source, kind="restricted:network")
    assert not ran.loot
    assert ran.error != "HarnessError", ran.message
    assert ran.findings or ran.error, "it ended without a word"
