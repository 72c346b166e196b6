"""The protocol's own conformance suite against `belljar serve --http`.

A scenario that fails and is not in the file of expected failures fails the test, and so does one
that is in it and passes. The files say for each why it cannot apply."""

import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

# Version of the suite (tests/clients/package.json), revision of the protocol it shall speak.
RUNS = [
    ("conformance-2025-11-25", "2025-11-25"),
    ("conformance-2026-07-28", "2025-06-18"),
    ("conformance-2026-07-28", "2025-11-25"),
    ("conformance-2026-07-28", "2026-07-28"),
]
# What a server with tools cannot excuse itself from.
MUST_PASS = {
    "2025-06-18": {"server-initialize", "server-session-lifecycle", "ping", "tools-list"},
    "2025-11-25": {"server-initialize", "ping", "tools-list", "dns-rebinding-protection"},
    "2026-07-28": {"tools-list", "http-header-validation", "dns-rebinding-protection"},
}


def expected_failures(revision: str) -> Path:
    # What 2025-06-18 asks for is a part of what the next revision does.
    return HERE / f"expected_failures_{max(revision, '2025-11-25')}.yaml"


@pytest.mark.parametrize(("suite", "revision"), RUNS)
def test_conformance(build, open_server, tmp_path, suite, revision):
    done = subprocess.run(
        [build / "clients/node", build / f"clients/node_modules/{suite}/dist/index.js", "server"]
        + ["--url", open_server.url, "--suite", "all", "--spec-version", revision]
        + ["--expected-failures", expected_failures(revision), "-o", tmp_path / "results"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    summary = done.stdout[done.stdout.find("=== SUMMARY ===") :]
    assert done.returncode == 0, summary + done.stderr[-4000:]
    passed = set(re.findall(r"^✓ ([\w-]+):", summary, re.MULTILINE))
    assert passed >= MUST_PASS[revision], summary


@pytest.mark.parametrize(
    "path", sorted(HERE.glob("expected_failures_*.yaml")), ids=lambda p: p.stem
)
def test_each_expected_failure_has_its_reason(path):
    for line in path.read_text().splitlines():
        if line.lstrip().startswith("- "):
            assert re.search(r" # \S.{10,}", line), f"no reason: {line}"
