"""Each language that is installed does what everybody expects of it."""

import subprocess

import pytest

from tests.cli.conftest import PROGRAM
from tests.languages.conftest import Run, need_language
from tests.languages.table import LANGUAGES

ALL = sorted(LANGUAGES)


@pytest.mark.parametrize("name", ALL)
def test_arguments_input_files_and_an_uncaught_error(name: str, run: Run) -> None:
    language = need_language(name)
    arguments = ("one", "two") if language.has_arguments else ()
    ran = run(name, language.hello, *arguments, stdin=b"in\n")
    assert ran.stdout.split() == ["hello", "one", "two", "in"], ran.outcome
    assert list(ran.files) == ["out.txt"], ran.outcome
    assert (ran.status, ran.code) == ("exception", 1), ran.outcome
    assert ran.error["type"] == language.type, ran.outcome
    if language.line:
        assert "boom" in ran.error["message"], ran.outcome
        assert ran.error["line"] == language.line, ran.outcome


@pytest.mark.parametrize("name", ALL)
def test_a_program_that_cannot_be_compiled(name: str, run: Run) -> None:
    language = need_language(name)
    ran = run(name, language.wrong)
    assert (ran.status, ran.error["type"]) == ("exception", language.wrong_type), ran.outcome
    assert ran.error["line"] == 2, ran.outcome
    assert not ran.error["message"].startswith("exited"), ran.outcome
    assert language.file in ran.outcome["stderr"] or name in ("sqlite",), ran.outcome


@pytest.mark.parametrize("name", ALL)
def test_the_exit_code_is_the_programs(name: str, run: Run) -> None:
    ran = run(name, need_language(name).leave)
    assert ran.exit_code == 7, ran.outcome
    assert ran.isolation["language"] == "full"
    assert all(each["held"] for each in ran.isolation["layers"] if each["name"] != "cgroup")


@pytest.mark.parametrize("name", ["bash", "javascript", "perl"])
def test_the_first_line_names_a_language(name: str, tmp_path) -> None:
    need_language(name)
    interpreter = {"javascript": "node"}.get(name, name)
    hello = {"bash": "echo hello", "javascript": "console.log('hello')", "perl": "print 'hello'"}
    file = tmp_path / "program"
    file.write_text(f"#!/usr/bin/env {interpreter}\n{hello[name]}\n")
    done = subprocess.run([PROGRAM, "run", file], capture_output=True, check=False)
    assert done.stdout.strip() == b"hello", done
