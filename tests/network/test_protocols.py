"""WebSockets, SMTP and FTP, by the library and by packages."""

from __future__ import annotations

import email
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd import controller as smtp_controller
from websockets.sync import server as websocket_server

from tests.network import servers


@pytest.fixture(scope="module")
def web_socket() -> Iterator[int]:
    def echo(connection: Any) -> None:
        for message in connection:
            connection.send(message)

    with websocket_server.serve(echo, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.socket.getsockname()[1]
        server.shutdown()


class _Inbox:
    def __init__(self) -> None:
        self.messages: list[bytes] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.messages.append(envelope.content)
        return "250 OK"


@pytest.fixture
def smtp() -> Iterator[tuple[int, _Inbox]]:
    inbox = _Inbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = smtp_controller.Controller(inbox, hostname="127.0.0.1", port=port)
    controller.start()
    yield port, inbox
    controller.stop(no_assert=True)


@pytest.fixture
def ftp(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "hello.txt").write_text("hello by FTP")
    with servers.ftp_server(tmp_path) as port:
        yield port


WEB_SOCKET_CLIENT = """
    import websocket
    connection = websocket.create_connection("ws://allowed.test:{port}/", timeout=10)
    connection.send("hello")
    print(connection.recv())
    connection.close()
"""
WEB_SOCKETS = """
    import asyncio
    from websockets.asyncio.client import connect
    async def main():
        async with connect("ws://allowed.test:{port}/") as connection:
            await connection.send("hello")
            print(await connection.recv())
    asyncio.run(main())
"""


@pytest.mark.parametrize(
    "program", [WEB_SOCKET_CLIENT, WEB_SOCKETS], ids=["websocket-client", "websockets"]
)
def test_web_sockets(run, web_socket, packages, policy, program):
    outcome = run(program.format(port=web_socket), policy=policy)
    assert outcome.stdout == "hello\n"
    assert [event["protocol"] for event in outcome.network] == ["connect"]


ASYNCHRONOUS = """
    import asyncio, aiohttp, httpx
    async def main():
        async with aiohttp.ClientSession() as session:
            async with session.get("http://allowed.test:{port}/a") as answer:
                print((await answer.json())["path"])
        async with httpx.AsyncClient() as client:
            print((await client.get("http://allowed.test:{port}/b")).json()["path"])
        reader, writer = await asyncio.open_connection("allowed.test", {port})
        writer.write(b"GET /c HTTP/1.0\\r\\n\\r\\n")
        print((await reader.readline()).split()[1].decode())
        writer.close()
        try:
            async with aiohttp.ClientSession() as session:
                await session.get("http://denied.test:{port}/")
        except aiohttp.ClientError as error:
            print(type(error).__name__)
        # sleeps: the loop's timers work
        print(await asyncio.gather(*(asyncio.sleep(0.01, n) for n in range(3))))
    asyncio.run(main())
"""


def test_asynchronous_clients(run, http, packages, policy):
    outcome = run(ASYNCHRONOUS.format(port=http), policy=policy)
    assert outcome.stdout.splitlines()[:3] == ["/a", "/b", "200"]
    assert outcome.stdout.splitlines()[-1] == "[0, 1, 2]"
    assert [event["allowed"] for event in outcome.network] == [True] * 3 + [False]


def test_mail_is_sent(run, smtp, policy):
    port, inbox = smtp
    outcome = run(
        f"""
        import smtplib
        from email.message import EmailMessage
        message = EmailMessage()
        message["Subject"] = "Grüße"
        message["From"], message["To"] = "ada@allowed.test", "bob@allowed.test"
        message.set_content("hello")
        message.add_attachment(b"data", maintype="application", subtype="octet-stream")
        with smtplib.SMTP("allowed.test", {port}, timeout=10) as server:
            server.send_message(message)
    """,
        policy=policy,
    )
    assert outcome.stdout == ""
    (sent,) = inbox.messages
    read = email.message_from_bytes(sent)
    assert (read["To"], read.is_multipart()) == ("bob@allowed.test", True)
    assert outcome.json["security_events"] == []


def test_files_come_and_go_by_ftp(run, ftp, tmp_path, policy):
    outcome = run(
        f"""
        import ftplib, io
        with ftplib.FTP(timeout=10) as server:
            server.connect("allowed.test", {ftp})
            server.login("ada", "secret")
            print(server.nlst())
            got = io.BytesIO()
            server.retrbinary("RETR hello.txt", got.write)
            print(got.getvalue())
            server.storbinary("STOR back.txt", io.BytesIO(b"and back"))
    """,
        policy=policy,
    )
    assert outcome.stdout == "['hello.txt']\nb'hello by FTP'\n"
    assert (tmp_path / "back.txt").read_text() == "and back"
    assert all(event["host"] == "allowed.test" for event in outcome.network)


def test_a_loop_that_nothing_can_wake_says_so(run, policy):
    outcome = run(
        """
        import asyncio
        async def main():
            await asyncio.get_running_loop().create_future()
        asyncio.run(main())
    """,
        policy=policy,
    )
    assert "every task waits" in outcome.error
