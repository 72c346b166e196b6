"""TLS is the guest's own, and verified against the system's roots by every library, unasked."""

from __future__ import annotations

import textwrap

import pytest

URLLIB = """
import urllib.request
urllib.request.urlopen("https://{host}/", timeout=10).read()
"""
HTTP_CLIENT = """
import http.client
connection = http.client.HTTPSConnection("{host}", timeout=10)
connection.request("GET", "/")
connection.getresponse().read()
"""
SOCKET = """
import socket, ssl
with socket.create_connection(("{host}", 443), timeout=10) as plain:
    with ssl.create_default_context().wrap_socket(plain, server_hostname="{host}") as connection:
        connection.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
        connection.recv(100)
"""
REQUESTS = """
import requests
requests.get("https://{host}/", timeout=10).text
"""
URLLIB3 = """
import urllib3
urllib3.request("GET", "https://{host}/", timeout=10, retries=False).data
"""
HTTPX = """
import httpx
httpx.get("https://{host}/").text
"""
HTTPX_ASYNC = """
import asyncio, httpx
async def main():
    async with httpx.AsyncClient() as client:
        await client.get("https://{host}/")
asyncio.run(main())
"""
AIOHTTP = """
import asyncio, aiohttp
async def main():
    async with aiohttp.ClientSession() as session:
        async with session.get("https://{host}/") as answer:
            await answer.text()
asyncio.run(main())
"""
STREAMS = """
import asyncio
async def main():
    reader, writer = await asyncio.open_connection("{host}", 443, ssl=True)
    writer.write(b"GET / HTTP/1.0\\r\\n\\r\\n")
    await reader.readline()
    writer.close()
asyncio.run(main())
"""
WEB_SOCKETS = """
import asyncio
from websockets.asyncio.client import connect
async def main():
    async with connect("wss://{host}:8443/") as connection:
        await connection.send("hello")
        assert await connection.recv() == "hello"
asyncio.run(main())
"""
WEB_SOCKET_CLIENT = """
import websocket
connection = websocket.create_connection("wss://{host}:8443/", timeout=10)
connection.send("hello")
assert connection.recv() == "hello"
"""
AIOHTTP_WEB_SOCKET = """
import asyncio, aiohttp
async def main():
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect("wss://{host}:8443/") as connection:
            await connection.send_str("hello")
            assert (await connection.receive()).data == "hello"
asyncio.run(main())
"""
SMTPS = """
import smtplib
with smtplib.SMTP_SSL("{host}", timeout=10) as server:
    server.sendmail("ada@a.test", "bob@a.test", "hello")
"""
STARTTLS = """
import smtplib
with smtplib.SMTP("{host}", timeout=10) as server:
    server.starttls()
    server.sendmail("ada@a.test", "bob@a.test", "hello")
"""
FTPS = """
import ftplib
with ftplib.FTP_TLS("{host}", timeout=10) as server:
    server.login("ada", "secret")
"""

LIBRARIES = {
    "urllib.request": URLLIB,
    "http.client": HTTP_CLIENT,
    "ssl": SOCKET,
    "requests": REQUESTS,
    "urllib3": URLLIB3,
    "httpx": HTTPX,
    "httpx, asynchronous": HTTPX_ASYNC,
    "aiohttp": AIOHTTP,
    "asyncio": STREAMS,
    "websockets": WEB_SOCKETS,
    "websocket-client": WEB_SOCKET_CLIENT,
    "aiohttp's WebSockets": AIOHTTP_WEB_SOCKET,
    "smtplib.SMTP_SSL": SMTPS,
    "smtplib, STARTTLS": STARTTLS,
    "ftplib.FTP_TLS": FTPS,
}
BAD = ["another-name.test", "self-signed.test", "strange-authority.test"]

pytestmark = pytest.mark.usefixtures("packages")


def attempt(library: str, host: str) -> str:
    """A program that says in one line what came of it: the error that all others came from."""
    program = textwrap.indent(LIBRARIES[library].format(host=host), "    ")
    return f"""
try:
{program}
    print("reached")
except Exception as error:
    texts = []
    while error:
        texts.append(f"{{type(error).__name__}}: {{error}}")
        error = error.__cause__ or error.__context__
    print(*texts, sep=" | ")
"""


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_server_that_the_systems_roots_vouch_for_is_reached(stage, policy, library):
    outcome = stage.run(attempt(library, "good.test"), policy=policy)
    assert outcome.stdout == "reached\n"
    assert {(event["host"], event["allowed"]) for event in outcome.network} == {("good.test", True)}


@pytest.mark.parametrize("host", BAD)
@pytest.mark.parametrize("library", LIBRARIES)
def test_any_other_server_is_not(stage, library, host):
    outcome = stage.run(attempt(library, host))
    assert "CERTIFICATE_VERIFY_FAILED" in outcome.stdout
    why = "Hostname mismatch" if host == "another-name.test" else "certificate"
    assert why in outcome.stdout
    assert "reached" not in outcome.stdout


@pytest.mark.parametrize("library", ["smtplib.SMTP_SSL", "smtplib, STARTTLS", "ftplib.FTP_TLS"])
def test_a_context_of_ones_own_decides(stage, library):
    context = "ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)"
    program = LIBRARIES[library].format(host="self-signed.test")
    if library == "smtplib, STARTTLS":
        program = program.replace("starttls()", "starttls(context=context)")
    else:
        program = program.replace("timeout=10", "timeout=10, context=context")
    prepare = f"import ssl\ncontext = {context}\ncontext.check_hostname = False\n"
    prepare += "context.verify_mode = ssl.CERT_NONE\n"
    assert stage.run(prepare + program + "print('reached')").stdout == "reached\n"
