"""The command where its user may have few processes and threads (RLIMIT_NPROC): whatever cannot be
started, it says so and ends, or goes on with fewer; it never dies of a signal."""

import os
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine import BELLJAR, BUILD, need_build, need_open, need_root

# With these, none of the commands lacks any.
ENOUGH = 64


@pytest.fixture(scope="module", autouse=True)
def _somebody():
    need_root("becomes a user who has no other processes")
    need_build()
    need_open(BELLJAR, BUILD / "belljar-zygote", BUILD / "share/belljar")


@pytest.fixture
def home() -> Iterator[Path]:
    """Of that user: pytest's own folders are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def run(folder: Path, most: int, *words: str, stdin: str = "") -> subprocess.CompletedProcess:
    """As a user who may have `most` processes and threads."""
    user = 20_000 + os.getpid() % 40_000
    os.chown(folder, user, user)
    return subprocess.run(
        [BELLJAR, *words],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=folder,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
        user=user,
        group=user,
        extra_groups=[],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (most, most)),
    )


def check_all(folder: Path, *words: str, stdin: str = "", says: set[str]) -> str:
    """With one more each time, until it works: each end is clean, and `says` are the operations of
    errors on the way. What it printed at last."""
    errors = ""
    for most in range(1, ENOUGH):
        done = run(folder, most, *words, stdin=stdin)
        assert done.returncode in (0, 5), (most, done)
        if done.returncode == 0:
            break
        assert "(EAGAIN)" in done.stderr, (most, done)
        errors += done.stderr
    assert done.returncode == 0, done
    for each in says:
        why = "Resource temporarily unavailable (EAGAIN): no thread could be started; raise"
        assert f"{each}: {why}" in errors, errors
    return done.stdout


TOOLS = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}\n'


def test_a_server_says_what_it_cannot_start(home):
    answered = check_all(
        home,
        *("serve", "--log-level", "off"),
        stdin=TOOLS,
        says={"start a pool of workers", "open the log", "run calls", "serve stdio"},
    )
    assert '"execute_code"' in answered


def test_so_does_one_with_jobs(home):
    words = "serve", "--http", "127.0.0.1:0", "--jobs", "jobs.db"
    errors = ""
    # With one that starts there would be no end of it.
    for most in range(1, 12):
        done = run(home, most, *words)
        assert done.returncode == 5, (most, done)
        errors += done.stderr
    assert "write to the database of jobs: Resource temporarily unavailable (EAGAIN)" in errors
    assert "run calls: Resource temporarily unavailable (EAGAIN)" in errors


def test_a_validation_goes_on_with_fewer(home):
    for number in range(12):
        (home / f"{number}.py").write_text("print(1)\n")
    check_all(home, "validate", "--jobs", "8", ".", says={"start a pool of workers"})


def test_a_run_says_that_nothing_would_be_seen_of_it(home):
    words = "run", "-"
    printed = check_all(home, *words, stdin="print(6 * 7)", says={"show the output"})
    assert printed == "42\n"
