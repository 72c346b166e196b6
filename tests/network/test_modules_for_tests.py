"""What basic has for tests that patch it is the library's own wherever there is a network."""

from __future__ import annotations

import subprocess
import tomllib

import pytest

from tests.network.conftest import PROGRAM, ROOT

BASIC = tomllib.loads((ROOT / "profiles/basic.toml").read_text(encoding="utf-8"))
MODULES = sorted(name for name in BASIC["for_tests"] if name != "subprocess")

REAL = """
import importlib
{mocks}
for name in MODULES:
    module = importlib.import_module(name)
    print(name, module.__doc__, dir(module))
import ftplib, http.client, smtplib, socket, ssl, urllib.request
print(smtplib.SMTP().does_esmtp, ftplib.FTP().port, http.client.HTTPSConnection("a").port)
print(socket.inet_aton("10.0.0.1"), socket.socket().type, ssl.SSLContext.session_stats)
print(urllib.request.Request("http://a.test").origin_req_host, urllib.request.OpenerDirector())
""".replace("MODULES", repr([name for name in MODULES if "requests" not in name]))
REQUESTS = "import requests, requests.exceptions\n{mocks}\nprint(requests.Session().headers)\n"


def run(profile: str, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, "run", "--profile", profile, *options, "-c", source]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("profile", ["network", "filesystem+network", "network+filesystem"])
@pytest.mark.parametrize("source", [REAL, REQUESTS], ids=["library", "requests"])
def test_a_network_profile_gives_its_own(profile: str, source: str) -> None:
    without, with_mocks = (
        run(profile, source.replace("{mocks}", mocks)) for mocks in ("", "import unittest.mock")
    )
    assert without.returncode == with_mocks.returncode == 0, (without.stderr, with_mocks.stderr)
    assert _without_addresses(without.stdout) == _without_addresses(with_mocks.stdout)
    # Positive control: where there is no network, the same program meets what refuses.
    control = run("basic", source.replace("{mocks}", "import unittest.mock"))
    assert "PermissionError: [BJ502]" in control.stderr, control.stderr
    assert control.stderr.count("BJ201") == 0


def _without_addresses(text: str) -> list[str]:
    return [line.partition(" at 0x")[0] for line in text.splitlines()]


@pytest.mark.parametrize("name", MODULES)
def test_without_mocks_the_hint_names_the_profile(name: str) -> None:
    ran = run("basic", f"import {name}")
    assert ran.returncode == 3
    assert "hint: The 'network' profile has it. Add --profile network." in ran.stderr


def test_a_call_allows_them_by_name() -> None:
    source = "import smtplib, unittest.mock"
    assert run("basic", source, "--allow-import", "unittest").returncode == 3
    assert run("basic", source, "--allow-import", "unittest,smtplib").returncode == 0
    assert 'no module "smtpli"' in run("basic", source, "--allow-import", "smtpli").stderr


def test_socketpair_is_left_out_for_a_reason() -> None:
    ran = run("network", "import socket\nsocket.socketpair()")
    assert (
        "It is left out, as servers are: pass data between threads with queue.Queue." in ran.stderr
    )
