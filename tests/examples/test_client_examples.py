"""examples/clients: programs that start the server and talk to it, run as their readers would."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("BELLJAR_PYTHON", "/usr/bin/python3")
BELLJAR = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve() / "belljar"


def test_the_python_client():
    done = subprocess.run(
        [PYTHON, "-I", ROOT / "examples/clients/mcp_client.py", BELLJAR, "serve"],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        timeout=60,
    )
    lines = done.stdout.splitlines()
    live = [line for line in lines if line.startswith("live: ")]
    steps = [line for line in live if line != "live: starting profile basic"]  # on a slow machine
    # What comes last may come with the answer alone, on a machine that stalls.
    assert steps and steps == ["live: step 1", "live: step 2", "live: step 3"][: len(steps)]
    assert [line for line in lines if line not in live] == [
        "connected to Belljar",
        "tool execute_code: Run Python code",
        "tool validate_code: Check Python code without running it",
        "tool get_sandbox_info: Show what the sandbox offers",
        "tool read_output: Read what an answer left out",
        "tool open_session: Open a session",
        "tool list_sessions: List your open sessions",
        "tool close_session: Close a session",
        "tool checkpoint: States of a session",
        "tool session_files: Files of a session",
        "result: 6",
        "status: refused - line 1: BJ201 module 'subprocess' is not available in profile 'basic'",
        "valid: True",
    ]
    # The server's log, which holds no code.
    assert '"event":"stopped"' in done.stderr
    assert "getcwd" not in done.stderr


def test_every_client_is_tried_here():
    text = Path(__file__).read_text(encoding="utf-8")
    clients = sorted((ROOT / "examples/clients").iterdir())
    assert clients
    for client in clients:
        assert f"examples/clients/{client.name}" in text
