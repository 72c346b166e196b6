"""nginx in front of two real servers, as the Ingress of deploy/helm/belljar configures it: a
session stays with its server, and jobs that are in one PostgreSQL are lost with none."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.clients.server import HttpServer, free_port
from tests.clocks import until, within
from tests.documentation.conftest import serving
from tests.machine import need, need_program

CHART = Path(__file__).resolve().parents[2] / "deploy/helm/belljar"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
TOKEN = "0123456789abcdef" * 4
LONG = 6  # jobs, of which two servers run two each
SESSIONS = 40  # at most, until each of two servers has had one: their ids are random


def route() -> tuple[str, str]:
    """The `map` that values.yaml shows for the controller, and how a server is chosen."""
    text = (CHART / "values.yaml").read_text()
    (shown,) = re.findall(r"#   (map \$http_mcp_session_id .*})$", text, re.M)
    return shown, VALUES["ingress"]["annotations"]["nginx.org/lb-method"]


@contextmanager
def gateway(folder: Path, servers: list[str]) -> Iterator[str]:
    nginx = need_program("nginx", "nginx-light")
    shown, method = route()
    port = free_port()
    annotations = VALUES["ingress"]["annotations"]
    names = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{each}_temp_path {folder}/{each};\n" for each in names)
    (folder / "nginx.conf").write_text(f"""
        daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
        events {{}}
        http {{
            access_log off; {temporary} {shown}
            upstream belljar {{
                {method};
                {"".join(f"server {each} max_fails=1;" for each in servers)}
            }}
            server {{
                listen 127.0.0.1:{port};
                location ~ ^/(mcp$|v1/) {{
                    proxy_pass http://belljar;
                    proxy_http_version 1.1;
                    proxy_set_header Connection "";
                    proxy_set_header Host 127.0.0.1;
                    proxy_buffering off;
                    proxy_read_timeout {annotations["nginx.org/proxy-read-timeout"]};
                    add_header X-Server $upstream_addr;
                }}
            }}
        }}""")
    process = subprocess.Popen([nginx, "-p", folder, "-c", folder / "nginx.conf"])
    try:

        def is_up() -> bool:
            assert process.poll() is None
            with socket.socket() as trial:
                return trial.connect_ex(("127.0.0.1", port)) == 0

        until(is_up)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def call(address: str, method: str, session: str = "", **params: Any) -> tuple[Any, str, str]:
    """The result, the server that gave it, and the session of the protocol. A connection of its own
    each time."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    headers |= {"Accept": "application/json, text/event-stream"}
    if session:
        headers["Mcp-Session-Id"] = session
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(f"{address}/mcp", body, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        result = json.loads(answer.read())["result"]
        return result, answer.headers["X-Server"], answer.headers.get("Mcp-Session-Id", "")


def initialize(address: str) -> str:
    client = {"name": "test", "version": "1"}
    return call(
        address, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client
    )[2]


def execute(address: str, protocol_session: str, **arguments: Any) -> tuple[dict[str, Any], str]:
    result, server, _ = call(
        address, "tools/call", protocol_session, name="execute_code", arguments=arguments
    )
    return result, server


def rest(
    address: str, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, Any, str]:
    """The status, the answer, and the server that gave it. nginx's own answers have status 502."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers |= {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{address}{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or "null"), answer.headers["X-Server"]
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), ""


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """A PostgreSQL of the test's own; its URL."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    need(found, "PostgreSQL is not installed")
    programs = found[-1].parent
    # It does not run as root.
    user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
    home = Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
    ids: dict[str, Any] = {}
    if user is not None:
        os.chown(home, user.pw_uid, user.pw_gid)
        ids = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    try:
        with open(folder / "postgres.txt", "wb") as log:
            subprocess.run(
                [programs / "initdb", "-D", home / "data", "-U", "belljar", "-A", "trust",
                 "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
                check=True, cwd=home, stdout=log, stderr=log, **ids,
            )  # fmt: skip
            process = subprocess.Popen(
                [programs / "postgres", "-D", home / "data", "-k", home]
                + ["-c", "listen_addresses=", "-c", "max_connections=60"],
                cwd=home, stdout=log, stderr=log, **ids,
            )  # fmt: skip
        try:
            yield f"postgresql://belljar@/postgres?host={home}"
        finally:
            process.send_signal(3)  # at once
            process.wait(30)
    finally:
        shutil.rmtree(home)


@pytest.fixture
def token(tmp_path) -> Path:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    return file


@pytest.fixture
def two_servers(tmp_path, token) -> Iterator[tuple[str, list[str]]]:
    """The address of the gateway, and those of the servers."""
    with ExitStack() as stack:
        servers = [
            stack.enter_context(serving(tmp_path / f"{i}.log", "--token-file", str(token)))
            for i in range(2)
        ]
        yield stack.enter_context(gateway(tmp_path, servers)), servers


def test_behind_the_ingress_a_session_stays_with_its_server(two_servers):
    address, servers = two_servers
    # Whoever has no session is served by either.
    seen = set()

    def both_have_served():
        seen.add(execute(address, "", code="1")[1])
        return seen == set(servers)

    until(both_have_served)
    seen = set()
    for number in range(SESSIONS):
        if number >= 8 and seen == set(servers):
            break
        protocol = initialize(address)
        assert protocol
        first, server = execute(address, protocol, code=f"x = {number}", session="new")
        session = first["structuredContent"]["session"]["id"]
        for _ in range(3):
            cell, same = execute(address, protocol, code="x", session=session)
            assert not cell["isError"] and same == server
            assert cell["structuredContent"]["result"] == number
        # Elsewhere it is as if it were not there.
        (other,) = set(servers) - {server}
        missed, _ = execute(f"http://{other}", protocol, code="x", session=session)
        assert missed["isError"]
        seen.add(server)
    assert seen == set(servers)


def test_a_client_of_the_http_api_chooses_its_server_by_the_same_header(two_servers):
    address, servers = two_servers
    seen = set()
    for number in range(SESSIONS):
        if number >= 8 and seen == set(servers):
            break
        own = {"Mcp_Session_Id": f"client-{number}"}
        status, opened, server = rest(address, "POST", "/v1/sessions", {}, **own)
        assert status == 201
        cells = f"/v1/sessions/{opened['session']}/cells"
        for code in (f"x = {number}", "x"):
            status, cell, same = rest(address, "POST", cells, {"code": code}, **own)
            assert (status, same) == (200, server)
        assert cell["result"] == number
        seen.add(server)
    assert seen == set(servers)


def test_a_server_that_is_killed_takes_no_job_of_the_shared_store_with_it(tmp_path, token):
    with ExitStack() as stack:
        config = tmp_path / "belljar.toml"
        config.write_text(f"""
            [jobs]
            store = "{stack.enter_context(postgres(tmp_path))}"
            lease = "5s"
            [execution]
            concurrency = 2
            [http]
            token_file = "{token}"
        """)
        servers = [
            HttpServer(tmp_path / f"{i}.log", arguments=["--config", str(config)]) for i in range(2)
        ]
        for server in servers:
            stack.callback(server.kill)
        address = stack.enter_context(
            gateway(tmp_path, [f"127.0.0.1:{server.port}" for server in servers])
        )

        def submit(number: int) -> str:
            """As clients do that lost an answer: again, with the same key."""
            # sleeps: the first ones run when their server is killed
            seconds = min(within(2), 20) if number < LONG else 0.3
            body = {"code": f"import time\ntime.sleep({seconds})\n{number}"}

            def taken() -> str:
                status, answer, _ = rest(
                    address, "POST", "/v1/executions", body,
                    Prefer="respond-async", Idempotency_Key=f"job-{number}",
                )  # fmt: skip
                assert status in (202, 502, 503), answer
                return answer["id"] if status == 202 else ""

            return until(taken, "nobody takes the job")

        def states(jobs: list[str]) -> dict[str, dict[str, Any]]:
            return {job: rest(address, "GET", f"/v1/executions/{job}")[1] for job in jobs}

        jobs = [submit(number) for number in range(20)]
        until(
            lambda: sum(job["state"] == "running" for job in states(jobs[:LONG]).values()) >= 3,
            "both servers run jobs",
        )
        servers[0].kill()
        jobs += [submit(number) for number in range(20, 30)]
        assert len(set(jobs)) == 30
        until(
            lambda: all(job["state"] not in ("queued", "running") for job in states(jobs).values()),
            lambda: states(jobs),
        )
        ended = states(jobs)
        interrupted = [job for job in ended.values() if job["state"] == "interrupted"]
        # Those that the killed server ran, and no other; nothing was run twice.
        assert 1 <= len(interrupted) <= 2
        assert all(job["attempts"] == 1 for job in ended.values())
        assert {job["state"] for job in ended.values()} == {"interrupted", "succeeded"}
        for number, job in enumerate(ended.values()):
            assert job["state"] == "interrupted" or job["execution"]["result"] == number
