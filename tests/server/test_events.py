"""Events of a real server: streams that are cut and resumed, webhooks that a library of theirs
verifies, and traces that messages of OpenTelemetry accept."""

import ctypes.util
import http.server
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import httpx
import pytest
from google.protobuf import json_format
from httpx_sse import EventSource, ServerSentEvent, connect_sse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.clients.server import BELLJAR, TOKEN, HttpServer, environment
from tests.clocks import until
from tests.machine import need
from tests.network import certificates

OTHER_TOKEN = TOKEN[::-1]
SECRET = "whsec_" + "c2VjcmV0IG9mIHRoZSB0ZXN0LCB0aGlydHktdHdvIGJ5dGVz"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TIMEOUT = 60


def base(server: HttpServer) -> str:
    return server.url.removesuffix("/mcp")


def execute(
    server: HttpServer, code: str, token: str | None = None, meta=None, headers=None, **more
) -> dict:
    """The full answer to a call over MCP."""
    params = {
        "name": "execute_code",
        "arguments": {"code": code, "detail": "full", **more},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            **(meta or {}),
        },
    }
    answer = httpx.post(
        server.url,
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        headers={
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "execute_code",
            **({"Authorization": f"Bearer {token}"} if token else {}),
            **(headers or {}),
        },
        timeout=TIMEOUT,
    )
    return answer.json()["result"]


class Stream:
    """One stream of events, which a test can read and leave."""

    def __init__(self, server: HttpServer, token: str | None = None, last_id="", **query: str):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if last_id:
            headers["Last-Event-ID"] = last_id
        # Plain HTTP: loading certificates would cost more than all of the rest.
        self.client = httpx.Client(timeout=TIMEOUT, verify=False)
        self.context = connect_sse(
            self.client, "GET", f"{base(server)}/v1/events", params=query, headers=headers
        )
        source: EventSource = self.context.__enter__()
        assert source.response.status_code == 200, source.response.read()
        self.events: Iterator[ServerSentEvent] = source.iter_sse()
        self.last_id = ""
        opened = self.next()
        assert opened["type"] == "stream.opened"

    def next(self) -> dict:
        event = next(self.events)
        if event.id:
            self.last_id = event.id
        message = event.json()
        assert message["type"] == event.event
        return message

    def until(self, name: str) -> list[dict]:
        found = [self.next()]
        while found[-1]["type"] != name:
            found.append(self.next())
        return found

    def close(self) -> None:
        # In the middle of it, as a connection breaks.
        self.client.close()


@pytest.fixture
def server(tmp_path: Path):
    server = HttpServer(tmp_path / "log")
    yield server
    if server.process.poll() is None:
        server.stop()


def test_an_execution_from_its_submission_to_its_end(server):
    stream = Stream(server)
    answer = execute(server, "print('hello')\n6 * 7")["structuredContent"]
    events = stream.until("execution.ended")
    assert [event["type"] for event in events] == [
        "execution.submitted",
        "execution.started",
        "execution.ended",
    ]
    assert {event["data"]["execution"] for event in events} == {answer["execution_id"]}
    ended = events[-1]["data"]
    assert (ended["status"], ended["profile"], ended["tool"]) == ("ok", "basic", "execute_code")
    assert ended["wall_time"] > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", events[-1]["timestamp"])
    assert "hello" not in json.dumps(events)


def test_what_goes_wrong_is_told_as_what_it_is(server):
    stream = Stream(server, types="execution.ended,execution.refused,execution.limit")
    execute(server, "import subprocess")
    refused = stream.next()
    assert refused["type"] == "execution.refused"
    assert (refused["data"]["reason"], refused["data"]["rules"]) == ("policy", ["BJ201"])
    execute(server, "1", memory_limit="1 apple")
    assert stream.next()["data"]["reason"] == "arguments"
    execute(server, "while True: pass", timeout=0.2)
    limit, ended = stream.next(), stream.next()
    assert (limit["type"], limit["data"]["limit"]) == ("execution.limit", "timeout")
    assert (ended["type"], ended["data"]["status"]) == ("execution.ended", "timeout")
    execute(server, "raise KeyError('secret')")
    failed = stream.next()
    assert failed["data"]["error_type"] == "KeyError"
    assert "secret" not in json.dumps(failed)


def post(server: HttpServer, path: str, body: dict, **headers: str) -> httpx.Response:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = httpx.post(base(server) + path, json=body, headers=headers, timeout=TIMEOUT)
    assert answer.is_success, answer.text
    return answer


def test_programs_of_batches_jobs_and_cells_of_notebooks_are_executions(tmp_path):
    config = tmp_path / "belljar.toml"
    config.write_text('[jobs]\nstore = "state/jobs.db"\n[fronts]\nsandbox_fusion = "basic"\n')
    server = HttpServer(tmp_path / "log", arguments=["--config", str(config)])
    try:
        stream = Stream(server, types="execution.*")
        whole = ["execution.ended", "execution.started", "execution.submitted"]

        def seen(count: int) -> set[str]:
            """Each of these executions has all its events."""
            by_execution: dict[str, list[str]] = {}
            for _ in range(3 * count):
                event = stream.next()
                by_execution.setdefault(event["data"]["execution"], []).append(event["type"])
            assert [sorted(types) for types in by_execution.values()] == [whole] * count
            return set(by_execution)

        batch = post(server, "/v1/batches", {"executions": [{"code": "1"}, {"code": "2"}]})
        lines = [json.loads(line) for line in batch.text.splitlines()]
        assert seen(2) == {line["execution"]["execution_id"] for line in lines if "index" in line}
        job = post(server, "/v1/executions", {"code": "3"}, Prefer="respond-async").json()["id"]
        assert seen(1) == {job}
        post(server, "/run_jupyter", {"cells": ["a = 1", "a"], "kernel": "python3"})
        assert len(seen(2)) == 2
    finally:
        server.stop()


def test_sessions_and_their_cells(server):
    stream = Stream(server, types="session.*,execution.ended")
    session = execute(server, "x = 1", session="new")["structuredContent"]["session"]["id"]
    opened, first = stream.next(), stream.next()
    assert opened["type"] == "session.opened"
    assert opened["data"]["session"] == first["data"]["session"] == session
    assert first["data"]["cell"] == 1
    execute(server, "x = 2\nwhile True: pass", session=session, timeout=0.2)
    restored, stopped = stream.next(), stream.next()
    assert restored["type"] == "session.restored"
    assert restored["data"]["execution"] == stopped["data"]["execution"]
    only = Stream(server, session=session, types="session.closed")
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(TIMEOUT) == 0
    # It is closed after the streams have ended; what they have got is whole.
    assert list(only.events) == []


def test_output_is_told_while_it_runs_to_those_who_ask(server):
    plain = Stream(server)
    stream = Stream(server, output="true", types="execution.ended")
    # sleeps: what is printed is told in between
    code = "import time\nfor i in range(3):\n    print('line', i, flush=True)\n    time.sleep(0.3)"
    execute(server, code)
    events = stream.until("execution.ended")
    assert [event["type"] for event in events[:-1]] == ["execution.output"] * (len(events) - 1)
    text = "".join(event["data"]["text"] for event in events[:-1])
    # What is there when the program ends is in the answer alone.
    assert text.startswith("line 0\n") and "line 0\nline 1\nline 2\n".startswith(text)
    assert all(event["type"] != "execution.output" for event in plain.until("execution.ended"))


def test_a_cut_connection_is_resumed_without_loss_or_repetition(server):
    stream = Stream(server, types="execution.ended")
    ids: list[str] = []
    seen: list[str] = []
    for round_number in range(4):
        for _ in range(3):
            ids.append(execute(server, "1")["structuredContent"]["execution_id"])
        # Some are read, some are on their way when the connection breaks.
        for _ in range(round_number):
            seen.append(stream.next()["data"]["execution"])
        stream.close()
        ids.append(execute(server, "1")["structuredContent"]["execution_id"])
        stream = Stream(server, last_id=stream.last_id, types="execution.ended")
    while len(seen) < len(ids):
        event = stream.next()
        assert event["type"] == "execution.ended"
        seen.append(event["data"]["execution"])
    assert seen == ids


def test_a_restarted_server_says_that_events_were_missed(server):
    stream = Stream(server)
    execute(server, "1")
    stream.until("execution.ended")
    last_id = stream.last_id
    server.kill()
    stream.close()
    server.start()
    again = Stream(server, last_id=last_id)
    gap = again.next()
    assert gap == gap | {"type": "gap", "data": {"cause": "restart", "missed": None}}
    execute(server, "2")
    assert again.next()["type"] == "execution.submitted"
    assert again.last_id.split("-")[0] != last_id.split("-")[0]


def test_what_is_no_longer_kept_is_a_gap(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text("[events]\nkept = 6\n")
    server = HttpServer(tmp_path / "log", arguments=["--config", str(file)])
    try:
        stream, watching = Stream(server), Stream(server)
        stream.close()
        for _ in range(4):
            execute(server, "1")
            # An answer may be read before its last event is published.
            watching.until("execution.ended")
        again = Stream(server, last_id=stream.last_id)
        gap = again.next()
        assert gap["data"] == {"cause": "expired", "missed": 6}
        assert [again.next()["type"] for _ in range(3)][-1] == "execution.ended"
    finally:
        server.stop()


def test_another_token_sees_nothing(tmp_path):
    file = tmp_path / "config.toml"
    secret = tmp_path / "token"
    secret.write_text(OTHER_TOKEN)
    secret.chmod(0o600)
    file.write_text(f'[[tokens]]\nname = "other"\nfile = "{secret}"\n')
    server = HttpServer(tmp_path / "log", token=TOKEN, arguments=["--config", str(file)])
    try:
        assert httpx.get(f"{base(server)}/v1/events", timeout=TIMEOUT).status_code == 401
        own, other = Stream(server, TOKEN), Stream(server, OTHER_TOKEN)
        mine = execute(server, "1", TOKEN)["structuredContent"]["execution_id"]
        theirs = execute(server, "2", OTHER_TOKEN)["structuredContent"]["execution_id"]
        assert {e["data"]["execution"] for e in own.until("execution.ended")} == {mine}
        assert {e["data"]["execution"] for e in other.until("execution.ended")} == {theirs}
    finally:
        server.stop()


def test_streams_do_not_hold_up_the_end(server):
    streams = [Stream(server) for _ in range(5)]
    assert server.stop() == 0
    for stream in streams:
        assert list(stream.events) == []


def test_many_streams_have_one_thread(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text("[events]\nstreams = 1000\n")
    server = HttpServer(tmp_path / "log", arguments=["--config", str(file)])

    def threads() -> int:
        return len(list(Path(f"/proc/{server.pid}/task").iterdir()))

    try:
        before = threads()
        streams = [Stream(server) for _ in range(100)]
        assert threads() == before
        execute(server, "1")
        for stream in streams:
            assert len(stream.until("execution.ended")) == 3
    finally:
        server.stop()


# --- webhooks and traces ------------------------------------------------------------------------


class Receiver:
    """Keeps what is posted to it; `statuses` are its first answers, 200 the others."""

    def __init__(self, *statuses: int, tls: ssl.SSLContext | None = None):
        self.posts: list[tuple[str, dict, bytes]] = []
        self.arrived = threading.Condition()
        answers = list(statuses)
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with receiver.arrived:
                    receiver.posts.append((self.path, dict(self.headers), body))
                    receiver.arrived.notify_all()
                self.send_response(answers.pop(0) if answers else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.scheme = "https" if tls else "http"
        if tls:
            # The handshake is the request thread's.
            self.http.socket = tls.wrap_socket(
                self.http.socket, server_side=True, do_handshake_on_connect=False
            )
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.http.server_port}"

    def get(self, count: int) -> list[tuple[str, dict, bytes]]:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.posts) >= count, TIMEOUT), self.posts
            return list(self.posts)

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def receiver():
    receiver = Receiver(503)
    yield receiver
    receiver.close()


def webhook_config(tmp_path: Path, receiver: Receiver) -> Path:
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    file = tmp_path / "config.toml"
    file.write_text(
        f'[[webhooks]]\nname = "grader"\nurl = "{receiver.url}/hook?x=1"\nfile = "secret"\n'
        'events = ["execution.ended", "session.*"]\n'
    )
    return file


def test_webhooks_are_what_standard_webhooks_verifies(tmp_path, receiver):
    file = webhook_config(tmp_path, receiver)
    server = HttpServer(tmp_path / "log", arguments=["--config", str(file)])
    try:
        ids = [execute(server, str(i))["structuredContent"]["execution_id"] for i in range(3)]
        posts = receiver.get(4)  # the first attempt failed
        metrics = httpx.get(f"{base(server)}/metrics", timeout=TIMEOUT).text
    finally:
        server.stop()
    assert {path for path, _, _ in posts} == {"/hook?x=1"}
    told = []
    for _, headers, body in posts:
        message = Webhook(SECRET).verify(body, {k.lower(): v for k, v in headers.items()})
        told.append(message["data"]["execution"])
    assert told == [ids[0], *ids]
    assert posts[0][1]["webhook-id"] == posts[1][1]["webhook-id"]
    _, headers, body = posts[-1]
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(body + b" ", headers)
    assert 'belljar_deliveries_total{receiver="webhook grader",result="failed"} 1' in metrics
    entries = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    (failed,) = [entry for entry in entries if entry["event"] == "delivery_failed"]
    assert failed["receiver"] == "webhook grader"
    assert failed["why"] == "execution.ended: HTTP status 503"
    assert SECRET not in (tmp_path / "log").read_text()


def test_the_end_of_a_session_is_delivered_at_the_end_of_the_server(tmp_path, receiver):
    file = webhook_config(tmp_path, receiver)
    server = HttpServer(tmp_path / "log", arguments=["--config", str(file)])
    execute(server, "1", session="new")
    receiver.get(3)
    server.stop()
    types = [json.loads(body)["type"] for _, _, body in receiver.get(4)]
    assert types[-1] == "session.closed"


def test_traces_are_what_opentelemetry_reads(tmp_path, receiver):
    log = tmp_path / "log"
    file = tmp_path / "config.toml"
    file.write_text(f'[tracing]\nendpoint = "{receiver.url}"\nservice = "grader"\n')
    server = HttpServer(log, arguments=["--config", str(file)])
    parent = "00f067aa0ba902b7"
    execute(server, "1", meta={"traceparent": f"00-{TRACE}-{parent}-01"})
    execute(server, "import os.path as p; p.x", meta={"traceparent": f"00-{TRACE}-{parent}-00"})
    execute(server, "2", headers={"traceparent": f"00-{TRACE[::-1]}-{parent}-01"})
    execute(server, "1 / 0")
    receiver.get(2)  # the first one is answered by 503: a server that stops would not try again
    server.stop()
    spans = []
    for path, headers, body in receiver.get(2)[1:]:
        assert path == "/v1/traces"
        assert headers["Content-Type"] == "application/json"
        # Names and types; ids are in hexadecimal there, which that parser takes for base64.
        request = json_format.Parse(body, ExportTraceServiceRequest())
        (resource,) = request.resource_spans
        attributes = {a.key: a.value.string_value for a in resource.resource.attributes}
        assert attributes["service.name"] == "grader"
        spans += json.loads(body)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    first, second, last = spans
    assert second["traceId"] == TRACE[::-1]
    assert (first["traceId"], first["parentSpanId"]) == (TRACE, parent)
    assert [event["name"] for event in first["events"]] == ["execution.started"]
    assert (first["status"]["code"], last["status"]["code"]) == (1, 2)
    assert last["traceId"] not in (TRACE, TRACE[::-1])


@pytest.fixture
def authority(tmp_path: Path, monkeypatch) -> list[str | Path]:
    """The options with which openssl makes certificates that the server trusts."""
    options = certificates.make_authority(tmp_path, "authority")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    return options


def tls_context(folder: Path, names: str, *options: str | Path) -> ssl.SSLContext:
    certificates.make_leaf(folder, "server", "server", *options, names=names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    return context


def post_without_verification(url: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1_1
    urllib.request.urlopen(url, b"{}", timeout=TIMEOUT, context=context).close()


def check_webhooks_and_traces(
    tmp_path: Path, host: str, authority: list[str | Path], **variables: str
) -> None:
    """They arrive over TLS from a server with these variables."""
    receiver = Receiver(tls=tls_context(tmp_path, "DNS:localhost,IP:127.0.0.1", *authority))
    url = receiver.url.replace("127.0.0.1", host)
    file = webhook_config(tmp_path, receiver)
    text = file.read_text().replace(receiver.url, url)
    file.write_text(f'{text}[tracing]\nendpoint = "{url}"\n')
    with mock.patch.dict(os.environ, variables):
        server = HttpServer(tmp_path / "log", arguments=["--config", str(file)])
    try:
        execute(server, "print('x' * 100)")
        posts = receiver.get(2)
    finally:
        server.stop()
        receiver.close()
    assert {path for path, _, _ in posts} == {"/hook?x=1", "/v1/traces"}
    ((_, headers, body),) = [post for post in posts if post[0] == "/hook?x=1"]
    assert Webhook(SECRET).verify(body, {k.lower(): v for k, v in headers.items()})
    assert headers["Host"] == url.removeprefix("https://")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_webhooks_and_traces_go_over_tls(tmp_path, authority, host):
    check_webhooks_and_traces(tmp_path, host, authority)


def test_the_roots_may_be_in_a_folder(tmp_path, authority, monkeypatch):
    roots = tmp_path / "roots"
    roots.mkdir()
    shutil.copy(tmp_path / "authority.pem", roots)
    subprocess.run(["openssl", "rehash", roots], check=True)
    monkeypatch.delenv("SSL_CERT_FILE")
    check_webhooks_and_traces(tmp_path, "localhost", authority, SSL_CERT_DIR=str(roots))


def test_tls_needs_no_certain_openssl(tmp_path, authority):
    """A wheel is for systems with OpenSSL 1.1, too. Here there is none at all, only GnuTLS."""
    need(ctypes.util.find_library("curl-gnutls"), "there is no libcurl3-gnutls")
    broken = tmp_path / "broken"
    broken.mkdir()
    for name in ("libssl.so.3", "libssl.so.1.1", "libcurl.so.4"):
        (broken / name).touch()
    check_webhooks_and_traces(tmp_path, "localhost", authority, LD_LIBRARY_PATH=str(broken))


def test_without_libcurl_the_server_says_what_to_install(tmp_path, receiver):
    for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
        (tmp_path / name).touch()
    done = subprocess.run(
        [BELLJAR, "serve", "--check", "--config", webhook_config(tmp_path, receiver)],
        capture_output=True,
        text=True,
        env=environment(LD_LIBRARY_PATH=str(tmp_path)),
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 2, done
    assert "webhooks and traces need libcurl: Debian's and Ubuntu's package libcurl4" in done.stderr


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("another name", "no alternative certificate subject name matches"),
        ("the name of another address", "no alternative certificate subject name matches"),
        ("self-signed", "self-signed certificate"),
        ("another authority", "unable to get local issuer certificate"),
        ("no authority", "unable to get local issuer certificate"),
        ("old protocol", "protocol"),
        ("plain HTTP", "wrong version number"),
    ],
)
def test_nothing_is_sent_without_verified_tls(tmp_path, authority, monkeypatch, kind, why):
    host = "127.0.0.1" if kind == "the name of another address" else "localhost"
    names = {
        "another name": "DNS:elsewhere.test,IP:127.0.0.1",
        "the name of another address": "DNS:localhost,DNS:127.0.0.1,IP:127.0.0.2",
    }.get(kind, "DNS:localhost")
    signed = [] if kind == "self-signed" else authority
    if kind == "another authority":
        signed = certificates.make_authority(tmp_path, "nobody's")
    if kind == "no authority":  # but those of this machine
        monkeypatch.delenv("SSL_CERT_FILE")
    context = tls_context(tmp_path, names, *signed)
    if kind == "old protocol":
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    receiver = Receiver(tls=None if kind == "plain HTTP" else context)
    post_without_verification(receiver.url)
    assert len(receiver.get(1)) == 1, "this test proves nothing"
    receiver.posts.clear()
    url = f"https://{host}:{receiver.http.server_port}"
    file = webhook_config(tmp_path, receiver)
    file.write_text(file.read_text().replace(receiver.url, url) + "attempts = 1\n")
    log = tmp_path / "log"
    server = HttpServer(log, arguments=["--config", str(file)])
    try:
        execute(server, "1")
        until(lambda: "delivery_failed" in log.read_text())
    finally:
        server.stop()
        receiver.close()
    assert receiver.posts == []
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    failed = [entry for entry in entries if entry["event"] == "delivery_failed"]
    assert why in failed[0]["why"], failed
    assert "webhook-" not in log.read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('url = "https://example.org/a b"', "write https://HOST[:PORT]/PATH"),
        ('url = "http://169.254.169.254/"', "is not an address of this machine"),
        ('url = "http://127.0.0.1/"\nevents = ["execution.end"]', 'did you mean "execution.ended"'),
        ('url = "http://127.0.0.1/"\ntokens = ["nobody"]', 'no token is named "nobody"'),
        ('url = "http://127.0.0.1/"\nsecret = "x"', "do not put a secret into this file"),
        ('url = "http://127.0.0.1/"\nattempts = 0', "write a whole number from 1 to 100"),
    ],
)
def test_a_wrong_webhook_is_refused_at_the_start(tmp_path, text, said):
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    file = tmp_path / "config.toml"
    file.write_text(f'[[webhooks]]\nname = "a"\nfile = "secret"\n{text}\n')
    done = subprocess.run(
        [BELLJAR, "serve", "--config", str(file), "--check"],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=TIMEOUT,
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert SECRET not in done.stderr
