"""The profile full over MCP: off unless enabled, never chosen unasked, and said in the result."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.network.session import Session

PROGRAM = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve() / "belljar"
REACHING = "import ctypes, sys\nctypes.sizeof(ctypes.c_int) + 0 * sys._getframe().f_lineno"


def call(session: Session, tool: str = "execute_code", **arguments: Any) -> dict[str, Any]:
    return session._send("tools/call", name=tool, arguments=arguments).result(100)


@pytest.fixture(scope="module")
def plain() -> Iterator[Session]:
    session = Session(PROGRAM, "--spares", "1")
    yield session
    session.close()


@pytest.fixture(scope="module")
def enabled() -> Iterator[Session]:
    variables = {"SANDBOX_ENABLE_FULL": "true", "SANDBOX_ENABLE_FILESYSTEM": "true"}
    session = Session(PROGRAM, "--spares", "1", **variables)
    yield session
    session.close()


def test_it_is_off(plain: Session) -> None:
    answer = call(plain, code="1", profile="full")
    assert answer["isError"]
    text = answer["content"][0]["text"]
    assert "SANDBOX_ENABLE_FULL=true" in text or "full" in text
    info = call(plain, "get_sandbox_info")["structuredContent"]
    full = info["security_profiles"]["full"]
    assert not full["enabled"]
    assert "SANDBOX_ENABLE_FULL=true" in full["how_to_enable"]
    assert any("No language policy" in each for each in full["attack_surface"])


def test_a_call_that_names_it_has_no_language_policy(enabled: Session) -> None:
    outcome = enabled.run(REACHING, profile="full")
    assert (outcome["status"], outcome["result"]) == ("ok", 4), outcome
    assert outcome["isolation"]["policy"] == "off"
    assert outcome["limits"]["processes"] == 128


def test_it_may_be_combined(enabled: Session) -> None:
    outcome = enabled.run("import ctypes\nopen('a', 'w').write('b')", profile="filesystem+full")
    assert (outcome["status"], outcome["result"]) == ("ok", 1), outcome
    assert outcome["isolation"]["policy"] == "off"


def test_it_stays_in_the_jail(enabled: Session) -> None:
    outcome = enabled.run("import os\nos.fork()", profile="full")
    assert outcome["error"]["type"] == "PermissionError"
    assert outcome["security_events"][0]["detail"] == "clone"


def test_no_code_chooses_it(enabled: Session) -> None:
    for code in (REACHING, "import ctypes, pathlib", "import threading\nthreading.stack_size(0)"):
        outcome = enabled.run(code)
        assert outcome["isolation"]["policy"] == "on"
    assert enabled.run(REACHING)["status"] == "refused"


def test_there_are_no_imports_to_restrict(enabled: Session) -> None:
    answer = call(enabled, code="1", profile="full", allowed_imports=["math"])
    assert answer["isError"]
    assert "disabled in profile full" in answer["content"][0]["text"]


def test_an_operator_cannot_restrict_them_either(tmp_path: Path) -> None:
    import subprocess

    done = subprocess.run(
        [PROGRAM, "serve", "--check", "--config", "/dev/null", "--allow-import", "math"],
        env={**os.environ, "SANDBOX_ENABLE_FULL": "true"},
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert "which profile full disables" in done.stderr
