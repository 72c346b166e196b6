"""A short run of the search, and its control: leaks of each kind, which it must find."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.machine import BUILD, need_guards, need_packages

ROOT = Path(__file__).resolve().parents[2]


def search(*arguments: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:  # for what it writes
        return subprocess.run(
            [sys.executable, "-m", "tests.search", "--seed", "1", *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "BELLJAR_GUARDS_DIR": need_guards(),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONHASHSEED": "0",
                "PYTHONPATH": str(ROOT),
            },
        )


@pytest.fixture(scope="module")
def planted() -> str:
    done = search("--planted")
    assert done.returncode == 1, done.stderr
    return done.stdout


def kinds() -> list[str]:
    from tests.search.planted import INTERRUPTED, WALKED

    return [words for _, words in (*WALKED.values(), *INTERRUPTED.values())]


@pytest.mark.parametrize("words", kinds())
def test_a_planted_leak_is_found(planted: str, words: str) -> None:
    assert [line for line in planted.splitlines() if line.startswith("FOUND") and words in line], (
        planted
    )


# On a busy machine longer than other tests may take.
@pytest.mark.timeout(900)
@pytest.mark.parametrize("profile, operations", [("basic", 1_500), ("filesystem", 300)])
def test_nothing_is_reached(profile: str, operations: int) -> None:
    done = search("--profile", profile, "--operations", str(operations))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.timeout(900)
@pytest.mark.parametrize("profile", ["data-science", "network"])
def test_a_profile_with_packages_is_searched(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A little of it: a part takes a second there. ./dev nightly does the rest."""
    need_packages(profile)
    folder = BUILD / "share/belljar/packages" / profile
    monkeypatch.setenv("POLICY_SET_PACKAGES", str(folder.resolve()))
    done = search("--profile", profile, "--seconds", "20")
    assert done.returncode == 0, done.stdout + done.stderr
