"""The life of a server and of what it started: the shell that started it ends, it is asked to end
while calls run, it runs where only one user is mapped."""

import json
import os
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.clients.server import BELLJAR, HttpServer, environment, free_port
from tests.clocks import HANG, UNTIL_KILLED, until
from tests.machine import need_wrapper
from tests.server.load import children_of, status_of
from tests.server.test_rest import TOKENS, ask, write_config

# What a shell does for `nohup belljar serve … &`: with job control it gets its own process
# group, which is orphaned when the shell ends. The shell ends with its input.
SHELL = ["bash", "-c", 'set -m; nohup "$@" >log.txt 2>&1 & echo $!; read -r _', "bash"]
ENDLESS = "print('started', flush=True)\n" + UNTIL_KILLED


class ServerOfAShell:
    """As tests.clients.server.HttpServer, for ask()."""

    def __init__(self, folder: Path):
        config = write_config(folder, TOKENS)
        self.port = free_port()
        serve = [BELLJAR, "serve", "--http", f"127.0.0.1:{self.port}", "--config", config]
        self.shell = subprocess.Popen(
            [*SHELL, *map(str, serve)],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            start_new_session=True,
        )
        self.pid = int(self.shell.stdout.readline())

    def wait_until_up(self):
        def info():
            assert self.shell.poll() is None
            try:
                return ask(self, "GET", "/v1/info")
            except OSError:
                return None

        return until(info)

    def all(self) -> set[int]:
        """Its descendants."""
        found, new = set(), {self.pid}
        while new:
            new = set().union(*map(children_of, new))
            found |= new
        return found

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        self.shell.stdout.close()
        self.shell.wait()


@pytest.fixture
def of_a_shell(tmp_path):
    server = ServerOfAShell(tmp_path)
    yield server
    server.stop()


def test_sessions_outlive_the_shell_that_started_their_owner(of_a_shell):
    of_a_shell.wait_until_up()
    session = ask(of_a_shell, "POST", "/v1/sessions", {}).headers["Location"]
    cell = ask(of_a_shell, "POST", f"{session}/cells", {"code": "x = 41"})
    assert cell.json()["status"] == "ok"
    # Where it waits for the next cell.
    until(
        lambda: any(status_of(each).get("State", "").startswith("T") for each in of_a_shell.all())
    )
    of_a_shell.shell.stdin.close()
    assert of_a_shell.shell.wait() in (0, 1)  # the code of read
    cell = ask(of_a_shell, "POST", f"{session}/cells", {"code": "x + 1"})
    assert cell.status == 200, cell.body
    assert cell.json()["result"] == 42


# --- asked to end ---------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path):
    config = write_config(tmp_path, TOKENS)
    server = HttpServer(tmp_path / "log.txt", arguments=["--config", str(config)])
    yield server
    server.stop()


def running(server) -> int:
    return ask(server, "GET", "/v1/statistics").json()["queue"]["running"]


def interrupt(server, session) -> None:
    # A call that runs is the queue's before it is its session's.
    until(lambda: ask(server, "POST", f"{session}/interrupt").json()["interrupted"])


@contextmanager
def shutting_down(server):
    """A session, and the answer to its cell, which runs when the server is asked to end."""
    session = ask(server, "POST", "/v1/sessions", {}).headers["Location"]
    with ThreadPoolExecutor() as pool:
        cell = pool.submit(ask, server, "POST", f"{session}/cells", {"code": ENDLESS})
        until(lambda: running(server))
        server.process.send_signal(signal.SIGTERM)
        until(lambda: ask(server, "GET", "/readyz").status != 200)
        yield session, cell


def test_while_calls_run_a_server_that_ends_answers_all_that_ask(server):
    with shutting_down(server) as (session, cell):
        for _ in range(3):
            assert ask(server, "GET", "/readyz").status == 503
            refused = ask(server, "POST", "/v1/executions", {"code": "1"})
            assert (refused.status, refused.headers["Connection"]) == (503, "close")
            assert "shutting down" in refused.json()["detail"]
            assert refused.headers["Retry-After"]
            assert ask(server, "GET", "/healthz").status == 200
        assert not cell.done()
        # The call that runs is its client's until the end.
        interrupt(server, session)
        outcome = cell.result()
    assert outcome.status == 200
    assert outcome.json()["error"]["type"] == "KeyboardInterrupt"
    assert server.process.wait() == 0


def test_a_client_that_only_connects_does_not_keep_it_from_ending(server):
    with shutting_down(server) as (session, cell):
        with socket.create_connection(("127.0.0.1", server.port)) as silent:
            assert ask(server, "GET", "/readyz").status == 503
            interrupt(server, session)
            assert cell.result().status == 200
            assert silent.recv(1) == b""
    assert server.process.wait() == 0


# --- one user -------------------------------------------------------------------------------------


@pytest.fixture
def of_one_user(tmp_path):
    """Root, where no other user is mapped: a container or a build sandbox with a single uid."""
    command = ["unshare", "--user", "--map-root-user"]
    need_wrapper(*command)
    return command


PROGRAM = "print(6 * 7)"


@pytest.mark.parametrize("options", [[], ["--isolation", "standard"], ["--profile", "filesystem"]])
def test_where_only_one_user_is_mapped_programs_run(of_one_user, options):
    run = [*of_one_user, BELLJAR, "run", *options, "--json", "-c", PROGRAM]
    done = subprocess.run(run, capture_output=True, text=True, env=environment())
    outcome = json.loads(done.stdout)
    assert (done.returncode, outcome["stdout"]) == (0, "42\n"), done.stderr
    layers = {layer["name"]: layer for layer in outcome["isolation"]["layers"]}
    assert all(layers[name]["held"] for name in layers if name != "cgroup"), layers
    assert "the only user that is mapped" in layers["privileges"]["detail"]


NO_NAMESPACES = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'


def test_there_standard_needs_no_namespaces(of_one_user):
    command = [*of_one_user, "sh", "-c", NO_NAMESPACES, "sh", BELLJAR]
    run = [*command, "run", "--json", "-c", PROGRAM, "--isolation"]
    strict = subprocess.run([*run, "strict"], capture_output=True, text=True, env=environment())
    assert strict.returncode not in (0, 1)
    assert "--isolation standard" in strict.stderr
    done = subprocess.run([*run, "standard"], capture_output=True, text=True, env=environment())
    outcome = json.loads(done.stdout)
    assert (done.returncode, outcome["stdout"]) == (0, "42\n"), done.stderr
    layers = {layer["name"]: layer["held"] for layer in outcome["isolation"]["layers"]}
    assert not layers["namespaces"]
    assert all(layers[name] for name in ("privileges", "rlimits", "landlock", "seccomp"))
    # And doctor says so.
    doctor = subprocess.run(
        [*command, "doctor", "--json"], capture_output=True, text=True, env=environment()
    )
    checks = {check["name"]: check for check in json.loads(doctor.stdout)["checks"]}
    assert checks["standard"]["found"]
    assert "--isolation standard" in checks["strict"]["how"]


def test_there_a_worker_has_no_capability(of_one_user):
    run = [*of_one_user, BELLJAR, "run", "--isolation", "standard", "--without", "namespaces"]
    started = subprocess.Popen([*run, "-c", ENDLESS], stdout=subprocess.PIPE, env=environment())
    try:
        assert started.stdout.readline() == b"started\n"
        (worker,) = children_of(started.pid)
        status = status_of(worker)
    finally:
        started.terminate()
        started.communicate()
    assert status["NoNewPrivs"] == "1"
    for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[capabilities], 16) == 0


def test_calls_of_a_file_are_all_answered(tmp_path):
    """A client that closes a pipe is gone; a file only has an end."""
    calls = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize",
         "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": {"name": "a file", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]  # fmt: skip
    count = 2 * (os.cpu_count() or 1) + 3  # more than run at once
    for number in range(1, count + 1):
        code = f"sum(range(200_000))\n{number}"
        arguments = {"name": "execute_code", "arguments": {"code": code}}
        calls.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": arguments})
    file = tmp_path / "calls.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in calls))
    with file.open() as input_:
        done = subprocess.run(
            [BELLJAR, "serve"], stdin=input_, capture_output=True, text=True, env=environment(),
            timeout=HANG, check=True,
        )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(each["id"] for each in answers if "id" in each) == list(range(count + 1))
    results = {each["id"]: each["result"] for each in answers if each.get("id")}
    assert all(results[id_]["structuredContent"]["result"] == id_ for id_ in results)
