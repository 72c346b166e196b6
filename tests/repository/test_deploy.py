"""deploy/ agrees with the program: every variable, port, path, package and number in it is one that
Belljar knows. It is not built here."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.clocks import until
from tests.machine import need_program

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BELLJAR_BUILD", ROOT / "build/release")).resolve()
BELLJAR = BUILD / "belljar"
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())
NGINX = (ROOT / "deploy/nginx.conf").read_text()
SERVER, GATEWAY = COMPOSE["services"]["server"], COMPOSE["services"]["gateway"]
# Loaded by no program of ours, or there wherever Debian is.
DATA_PACKAGES = {"tzdata", "ca-certificates", "python3", "libpq5", "libcurl4"}
BASE_PACKAGES = {"libc6"}


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's, with continued lines joined."""
    text = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", DOCKERFILE, flags=re.MULTILINE))
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def instruction(name: str) -> str:
    """The last one of that name."""
    return [rest for word, rest in instructions() if word == name][-1]


def image_environment() -> dict[str, str]:
    return dict(re.findall(r"(\w+)=(\S+)", instruction("ENV")))


def health_command() -> list[str]:
    return json.loads(instruction("HEALTHCHECK").partition("CMD ")[2])


def seconds(text: str) -> float:
    number, unit = re.fullmatch(r"(\d+)(ms|s|m)", text).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60}[unit]


@pytest.fixture(scope="module")
def defaults() -> dict[str, str]:
    done = subprocess.run(
        [BELLJAR, "config", "--defaults", "--json"], capture_output=True, check=True
    )
    return {entry["key"]: entry["text"] for entry in json.loads(done.stdout)["settings"]}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What the server has in its container, with a token that is here."""
    token = tmp_path / "token"
    token.write_text("0123456789abcdef" * 4)
    token.chmod(0o600)
    variables = {**image_environment(), **SERVER["environment"]}
    assert variables["BELLJAR_HTTP_TOKEN_FILE"] == "/run/secrets/belljar_token"
    ours = {name: value for name, value in variables.items() if name.startswith("BELLJAR_")}
    return {**ours, "BELLJAR_HTTP_TOKEN_FILE": str(token)}


def test_the_server_knows_every_setting(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [BELLJAR, *json.loads(instruction("CMD")), "--check"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # A variable that is none of its own would be a warning.
    assert done.stderr.startswith("belljar: the configuration is valid: http://0.0.0.0:")
    assert "tokens: 1" in done.stderr


def test_without_a_token_it_does_not_start(environment: dict[str, str]) -> None:
    del environment["BELLJAR_HTTP_TOKEN_FILE"]
    done = subprocess.run(
        [BELLJAR, "serve", "--check"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "token" in done.stderr


def test_one_port(environment: dict[str, str]) -> None:
    port = environment["BELLJAR_HTTP_LISTEN"].rpartition(":")[2]
    assert instruction("EXPOSE") == port
    assert f"/dev/tcp/127.0.0.1/{port} " in health_command()[-1]
    assert f"server server:{port};" in NGINX


def test_the_health_check_asks_what_the_server_answers(environment: dict[str, str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    theirs = environment["BELLJAR_HTTP_LISTEN"].rpartition(":")[2]
    assert shutil.which(health_command()[0])
    check = [word.replace(f"/{theirs} ", f"/{port} ") for word in health_command()]
    assert check != health_command()

    def is_healthy() -> bool:
        return subprocess.run(check, capture_output=True, check=False, timeout=30).returncode == 0

    assert not is_healthy(), "nothing listens there"
    server = subprocess.Popen(
        [BELLJAR, "serve", "--http", f"127.0.0.1:{port}"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: is_healthy() or server.poll() is not None)
        assert server.poll() is None
    finally:
        server.terminate()
        assert server.wait(60) == 0


def test_packages_are_those_that_the_programs_load() -> None:
    listed = set()
    for line in (ROOT / "tools/packages.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words[:1] == ["server"]:
            listed.add(words[1])
    assert """awk '$1 == "server" { print $2 }' tools/packages.txt""" in DOCKERFILE
    need_program("dpkg", "dpkg")  # which says whose a library is
    libraries = set()
    for name in ("belljar", "belljar-zygote", "belljar-guest"):
        linked = subprocess.run(["ldd", BUILD / name], capture_output=True, text=True, check=True)
        libraries.update(os.path.realpath(path) for path in re.findall(r"=> (/\S+)", linked.stdout))
    # Debian's list has some where they were before /lib became a link.
    asked = [path.removeprefix("/usr") for path in libraries] + sorted(libraries)
    said = subprocess.run(
        ["dpkg", "-S", *asked], capture_output=True, text=True, check=False
    ).stdout
    owners = {
        path.removeprefix("/usr"): package.partition(":")[0]
        for package, _, path in (line.rpartition(": ") for line in said.splitlines())
    }
    assert set(owners) == {path.removeprefix("/usr") for path in libraries}
    needed = set(owners.values())
    assert listed - DATA_PACKAGES == needed - BASE_PACKAGES


@pytest.mark.parametrize("name", ["server", "gateway"])
def test_each_service_has_only_what_it_needs(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"] and "cap_add" not in service
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["mem_limit"] == service["memswap_limit"]
    assert service["pids_limit"] > 0
    assert "privileged" not in service and "devices" not in service
    for tmpfs in service["tmpfs"]:
        assert {"noexec", "nosuid", "nodev"} <= set(tmpfs.split(":")[1].split(","))
        assert "size=" in tmpfs
    for volume in service.get("volumes", []):
        assert volume.endswith(":ro")
        assert (ROOT / "deploy" / volume.split(":")[0]).is_file()
    user = service.get("user") or instruction("USER")
    assert all(int(part) > 0 for part in user.split(":"))


def test_secrets_are_files_and_nothing_else() -> None:
    used = set(SERVER["secrets"]) | set(GATEWAY["secrets"])
    assert set(COMPOSE["secrets"]) == used
    ignored = (ROOT / ".gitignore").read_text().split() + (
        ROOT / ".dockerignore"
    ).read_text().split()
    assert "/deploy/secrets/" in ignored and "deploy/secrets" in ignored
    for secret in COMPOSE["secrets"].values():
        assert secret["file"].startswith("./secrets/")
    for name, value in SERVER["environment"].items():
        assert "TOKEN" not in name or value.startswith("/run/secrets/")
    for secret in GATEWAY["secrets"]:
        assert f"/run/secrets/{secret};" in NGINX


def test_only_the_gateway_can_be_reached() -> None:
    assert "ports" not in SERVER
    assert SERVER["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert re.search(r"listen (\d+) ssl;", NGINX)[1] == GATEWAY["ports"][0].rpartition(":")[2]
    assert re.findall(r"location (.*) {", NGINX) == ["= /mcp", "/"]
    assert "return 404;" in NGINX


def test_the_gateway_asks_for_a_name_that_the_server_answers_to() -> None:
    host = re.search(r"proxy_set_header Host (\S+);", NGINX)[1]
    assert host in SERVER["environment"]["BELLJAR_HTTP_ALLOWED_HOSTS"].split(",")


def test_times_and_sizes_fit(defaults: dict[str, str]) -> None:
    def of_nginx(name: str) -> str:
        return re.search(rf"\b{name}\s+(\w+);", NGINX)[1]

    assert of_nginx("client_max_body_size") == defaults["http.max_body"]
    assert seconds(of_nginx("keepalive_timeout")) < seconds(defaults["http.idle_timeout"])
    assert seconds(SERVER["stop_grace_period"]) > seconds(defaults["server.drain_timeout"])
    longest = max(
        seconds(re.search(r'\[limits.timeout\][^[]*max = "(\w+)"', path.read_text())[1])
        for path in (ROOT / "profiles").glob("*.toml")
        if "[limits.timeout]" in path.read_text()
    )
    assert seconds(of_nginx("proxy_read_timeout")) > longest
