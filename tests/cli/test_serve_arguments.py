"""belljar serve: from its arguments to a configuration. What it serves has tests of its own."""

import os
import pty
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.clocks import until

SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def environment(tmp_path):
    return {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}


@pytest.fixture
def serve(program, tmp_path, environment):
    """Runs `belljar serve`; its standard input is empty, which ends the server over stdio."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [program, "serve", *arguments],
            env={**environment, **variables},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ([], "stdio"),
        (["--http"], "http://127.0.0.1:9015/mcp"),
        (["--http", "--log-code"], "http://127.0.0.1:9015/mcp"),
        (["--http", "127.0.0.1:0"], "http://127.0.0.1:0/mcp"),
        (["--http", "[::1]:99"], "http://[::1]:99/mcp"),
        (["--http=8080"], "http://127.0.0.1:8080/mcp"),
        (["--http", "localhost"], "http://127.0.0.1:9015/mcp"),
        (["--http", "off"], "stdio"),
    ],
)
def test_check_says_what_would_be_served(serve, arguments, place):
    done = serve("--check", *arguments)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        f"belljar: the configuration is valid: {place}, tokens: 0, profiles: basic, file: none\n"
    )


def test_check_opens_nothing(serve):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert serve("--check", "--http", f"127.0.0.1:{port}").returncode == 0


def test_every_flag_is_taken(serve, tmp_path):
    (tmp_path / "token").write_text(SECRET)
    (tmp_path / "token").chmod(0o600)
    done = serve(
        "--check", "--http", "0.0.0.0:9", "--token-file", "token", "--allow-host", "a,b",
        "--allow-host", "c", "--allow-origin", "https://a", "--max-connections", "9",
        "--profile", "basic", "--profiles", "basic", "--isolation", "standard", "--policy",
        "on", "--timeout", "5", "--memory", "64m", "--max-output", "1MB", "--allow-import",
        "math,json", "--spares", "2", "--concurrency", "3", "--queue", "0", "--log-level", "off",
        "--log-format", "text", "--log-code", "--drain-timeout", "500ms",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    assert "http://0.0.0.0:9/mcp, tokens: 1, " in done.stderr
    assert "warning" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--timout", "5"], 'unknown option "--timout"; did you mean "--timeout"?'),
        (["x"], 'unexpected argument "x"'),
        (["--timeout", "ten"], '--timeout "ten": write seconds'),
        (["--timeout", "301"], "--timeout 301s: the maximum of profile basic is 300s"),
        (["--memory", "0"], '--memory "0": write one from 1 to 1024g'),
        (["--spares", "0"], '--spares "0": write a whole number from 1 to 256'),
        (["--isolation", "strct"], '--isolation "strct": write one of strict|standard; did you'),
        (["--log-level", "loud"], '--log-level "loud": write one of debug|info|warning|error|off'),
        (["--profile", "basci"], '--profile: unknown profile "basci"; did you mean "basic"?'),
        (["--allow-import", "maths"], '--allow-import: no enabled profile has a module "maths"'),
        (["--http", "::1:9015"], '--http "::1:9015": write ADDRESS:PORT, such as 127.0.0.1:9015'),
        (["--http", "example.com:80"], '--http "example.com:80": write ADDRESS:PORT'),
        (["--http", "0.0.0.0:9015"], "--http 0.0.0.0:9015: other machines can reach this address"),
        (["--allow-origin", "a"], '--allow-origin "a": write scheme and host without a path'),
        (["--token-file", "/nowhere"], '--token-file: open "/nowhere": No such file'),
        (["--timeout", "1", "--timeout", "2"], "--timeout"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_usage_errors(serve, arguments, said):
    done = serve("--check", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"belljar serve: {said}"), done.stderr
    assert done.stderr.endswith('Try "belljar serve --help".\n')


def test_another_address_says_how_to_make_a_token(serve):
    said = serve("--http", "0.0.0.0:9015").stderr
    assert "openssl rand -hex 32 > token" in said
    assert "umask 077" in said
    assert "belljar serve --http 0.0.0.0:9015 --token-file token" in said
    assert serve("--check", "--http", "0.0.0.0:9015", SANDBOX_API_TOKEN=SECRET).returncode == 0


@pytest.mark.parametrize(("mode", "code"), [(0o644, 2), (0o640, 0), (0o600, 0)])
def test_the_mode_of_a_token_file(serve, tmp_path, mode, code):
    (tmp_path / "token").write_text(SECRET)
    (tmp_path / "token").chmod(mode)
    done = serve("--check", "--http", "--token-file", "token")
    assert done.returncode == code
    assert ("chmod 600" in done.stderr) == (mode != 0o600)
    assert SECRET not in done.stderr


def test_flags_are_stronger_than_the_environment_and_the_file(serve, tmp_path):
    (tmp_path / "b.toml").write_text("http.listen = '127.0.0.1:1'")
    arguments = ["--check", "--config", "b.toml"]
    assert "http://127.0.0.1:1/mcp" in serve(*arguments).stderr
    variable = {"BELLJAR_HTTP_LISTEN": "127.0.0.1:2"}
    assert "http://127.0.0.1:2/mcp" in serve(*arguments, **variable).stderr
    assert "http://127.0.0.1:3/mcp" in serve(*arguments, "--http", "3", **variable).stderr


def test_over_stdio_it_ends_with_its_input_and_writes_nothing(serve):
    done = serve(SANDBOX_TIMOUT="5")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("belljar: warning: SANDBOX_TIMOUT: unknown setting")


def test_variables_of_the_build_are_no_unknown_settings(serve):
    root = Path(__file__).parents[2]
    scripts = [root / "dev", *(root / "tools/dev").glob("*.sh")]
    variable = re.compile(r"(?<!define\.)\bBELLJAR_[A-Z_]+\b")
    found = {name for each in scripts for name in variable.findall(each.read_text())}
    names = {name for name in found if not name.endswith("_")}
    assert "BELLJAR_CACHE_DIR" in names
    assert "unknown setting" not in serve(**dict.fromkeys(names, "x")).stderr


def test_at_a_terminal_it_says_once_what_is_expected(program, environment, tmp_path):
    master, slave = pty.openpty()
    said = tmp_path / "stderr"
    with (
        said.open("wb") as stderr,
        subprocess.Popen(
            [program, "serve"], env=environment, stdin=slave, stdout=subprocess.PIPE, stderr=stderr
        ) as server,
    ):
        os.close(slave)
        try:
            until(lambda: "Ctrl-D ends it.\n" in said.read_text())
            server.terminate()
            out, _ = server.communicate(timeout=30)
        finally:
            server.kill()
    os.close(master)
    assert (server.returncode, out) == (0, b"")
    assert said.read_text().startswith("belljar serve: standard input is a terminal")
    assert said.read_text().count("claude mcp add") == 1


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_graceful_stop_is_no_failure(program, environment, sent, transport):
    port = free_port()
    arguments = [] if transport == "stdio" else ["--http", f"127.0.0.1:{port}"]
    with subprocess.Popen(
        [program, "serve", *arguments],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Whoever runs the tests in the background may have had SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as server:
        try:
            wait_until_up(server, port if arguments else None)
            server.send_signal(sent)
            out, _ = server.communicate(timeout=30)
        finally:
            server.kill()
    assert (server.returncode, out) == (0, b"")


def wait_until_up(server: subprocess.Popen, port: int | None) -> None:
    """A port that is open, or else a handler of SIGTERM that is there."""

    def is_up() -> bool:
        assert server.poll() is None
        if port is None:
            with open(f"/proc/{server.pid}/status") as status:
                caught = next(line for line in status if line.startswith("SigCgt"))
            return bool(int(caught.split()[1], 16) & (1 << (signal.SIGTERM - 1)))
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    until(is_up)
