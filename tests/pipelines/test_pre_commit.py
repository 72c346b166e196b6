"""The real pre-commit runs the hook of .pre-commit-hooks.yaml, offline, around real commits."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest
import yaml

from tests.pipelines.conftest import BAD, BUILD, GOOD, ROOT, pre_commit, stand_in_wheel

MANIFEST = ROOT / ".pre-commit-hooks.yaml"


PROJECT = """\
[project]
name = "belljar-sandbox"
version = "0.1.0"
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""

# In place of tools/wheel_backend.py, whose use of the setting tests/packaging has.
BACKEND = """\
import pathlib, shutil

def build_wheel(folder, settings=None, metadata=None):
    assert settings == {"published": "true"}, settings
    (wheel,) = pathlib.Path(__file__).parent.glob("*.whl")
    shutil.copy(wheel, folder)
    return wheel.name
"""


@pytest.fixture
def hooks(tmp_path, run) -> tuple[Path, str]:
    """A repository with this checkout's manifest, a package that pip installs as it does ours, and
    its only commit. This checkout itself may have no history, or changes that are not committed."""
    folder = tmp_path / "belljar"
    folder.mkdir()
    shutil.copy(MANIFEST, folder)
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "backend.py").write_text(BACKEND)
    stand_in_wheel(folder)
    for words in (
        ["git", "init", "-q"],
        ["git", "add", "."],
        ["git", "commit", "-qm", "hooks"],
    ):
        done = run(folder, *words)
        assert done.returncode == 0, done.stderr
    return folder, run(folder, "git", "rev-parse", "HEAD").stdout.strip()


def configure(repository: Path, hooks: tuple[Path, str], *arguments: str) -> None:
    folder, revision = hooks
    text = f"""\
        repos:
          - repo: {folder}
            rev: {revision}
            hooks:
              - id: belljar-validate
                args: {list(arguments)}
        """
    (repository / ".pre-commit-config.yaml").write_text(textwrap.dedent(text))


@pytest.fixture
def guarded(repository, hooks, run) -> Path:
    """A repository whose commits the hook judges."""
    configure(repository, hooks)
    done = run(repository, *pre_commit("install"))
    assert done.returncode == 0, done.stderr
    return repository


def commit(run, repository: Path, **variables: str):
    assert run(repository, "git", "add", "-A").returncode == 0
    return run(repository, "git", "commit", "-m", "change", **variables)


def commits(run, repository: Path) -> int:
    return len(run(repository, "git", "log", "--oneline").stdout.splitlines())


def test_a_commit_goes_or_is_stopped(guarded, run):
    (guarded / "good file.py").write_text(GOOD)
    (guarded / "notes.txt").write_text("import glob\n")
    done = commit(run, guarded)
    assert done.returncode == 0, done.stderr
    assert "belljar validate" in done.stderr and "Passed" in done.stderr
    assert commits(run, guarded) == 1

    (guarded / "bad.py").write_text(BAD)
    done = commit(run, guarded)
    assert done.returncode != 0
    assert "Failed" in done.stderr
    assert "bad.py:1:1: BJ201 module 'glob' is not available in profile 'basic'" in done.stderr
    assert "good file.py" not in done.stderr  # it is not part of this commit
    assert commits(run, guarded) == 1

    (guarded / "bad.py").write_text(GOOD)
    assert commit(run, guarded).returncode == 0
    assert commits(run, guarded) == 2


def test_a_script_without_an_ending_is_judged_too(guarded, run):
    script = guarded / "tool"
    script.write_text("#!/usr/bin/env python3\n" + BAD)
    script.chmod(0o755)
    done = commit(run, guarded)
    assert done.returncode != 0
    assert "tool:2:1: BJ201" in done.stderr


def test_arguments_of_the_configuration_are_used(repository, hooks, run):
    configure(repository, hooks, "--profile", "no-such-profile")
    (repository / "good.py").write_text(GOOD)
    run(repository, "git", "add", "-A")
    done = run(repository, *pre_commit("run", "--all-files"))
    assert done.returncode == 1
    assert "no-such-profile" in done.stdout
    configure(repository, hooks, "--profile", "basic")
    run(repository, "git", "add", "-A")
    assert run(repository, *pre_commit("run", "--all-files")).returncode == 0


def test_all_files_go_to_one_process(guarded, run, tmp_path):
    """pre-commit would start one a processor, and each of those one worker a processor."""
    log = tmp_path / "log"
    stand_in = tmp_path / "bin/belljar"
    stand_in.parent.mkdir()
    stand_in.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\n')
    stand_in.chmod(0o755)
    for number in range(40):
        (guarded / f"{number}.py").write_text(GOOD)
    done = commit(run, guarded, BELLJAR_STAND_IN=str(stand_in))
    assert done.returncode == 0, done.stderr
    (call,) = log.read_text().splitlines()
    assert call.split()[0] == "validate" and len(call.split()) == 41


def test_belljar_need_not_be_on_path(guarded, run, environment):
    """pre-commit installs it, into an environment of its own."""
    (guarded / "bad.py").write_text(BAD)
    done = commit(run, guarded, PATH=environment["PATH"].replace(f"{BUILD}:", ""))
    assert done.returncode != 0
    assert "bad.py:1:1: BJ201" in done.stderr


def test_the_manifest_is_valid(run, tmp_path):
    done = run(tmp_path, *pre_commit("validate-manifest", MANIFEST))
    assert done.returncode == 0, done.stdout
    (hook,) = yaml.safe_load(MANIFEST.read_text())
    assert (hook["id"], hook["require_serial"]) == ("belljar-validate", True)
