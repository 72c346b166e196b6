"""belljar help and belljar version, and colours, which only a terminal gets."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

BOLD, RED, GREEN, YELLOW, PLAIN = (f"\x1b[{code}m" for code in ("1", "31", "32", "33", "0"))


@pytest.mark.parametrize(
    "words", [[], ["run"], ["image"], ["image", "build"], ["help"], ["version"]], ids=" ".join
)
def test_help_prints_what_the_option_prints(words, belljar):
    done = belljar("help", *words)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout == belljar(*words, "--help").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rnu"], 'belljar: unknown command "rnu"; did you mean "run"?'),
        (["image", "biuld"], 'belljar image: unknown command "biuld"; did you mean "build"?'),
        (["run", "x"], 'belljar run: unexpected argument "x"'),
        (["--jsn"], 'belljar help: unknown option "--jsn"'),
    ],
)
def test_help_of_what_is_no_command(words, message, belljar):
    done = belljar("help", *words)
    assert (done.code, done.stdout, done.stderr.splitlines()[0]) == (2, "", message)


def test_version(belljar):
    done = belljar("version")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout == belljar("--version").stdout


def at_a_terminal(program: Path, *arguments: str | Path, **environment: str) -> str:
    """What the command prints where both of its outputs are a terminal."""
    ours, its = pty.openpty()
    process = subprocess.Popen(
        [program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=its,
        env={k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        | {"TERM": "xterm-256color"}
        | environment,
    )
    os.close(its)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    process.wait(timeout=60)
    return shown.decode().replace("\r\n", "\n")


def test_a_traceback_has_colours(program):
    shown = at_a_terminal(program, "run", "-c", "1 / 0")
    assert f"{RED}ZeroDivisionError{PLAIN}: division by zero\n" in shown


def test_findings_have_colours(program, tmp_path):
    file = tmp_path / "a.py"
    file.write_text("import ctypes\n")
    finding = f"{BOLD}{file}:1:1: {PLAIN}{RED}BJ201{PLAIN} module 'ctypes'"
    assert finding in at_a_terminal(program, "validate", file)
    assert finding in at_a_terminal(program, "run", file)


def test_findings_in_a_file_have_none(program, tmp_path):
    (tmp_path / "a.py").write_text("import ctypes\n")
    at_a_terminal(program, "validate", tmp_path / "a.py", "--output", tmp_path / "findings.txt")
    assert "BJ201" in (tmp_path / "findings.txt").read_text()
    assert "\x1b" not in (tmp_path / "findings.txt").read_text()


def test_messages_help_and_doctor_have_colours(program):
    assert at_a_terminal(program, "rnu").startswith(f"{YELLOW}belljar: unknown command")
    assert f"\n{BOLD}Examples:{PLAIN}\n" in at_a_terminal(program, "run", "--help")
    assert f"\n{BOLD}Examples:{PLAIN}\n" in at_a_terminal(program, "help", "run")
    assert f"\n  {GREEN}yes{PLAIN}  seccomp " in at_a_terminal(program, "doctor")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
@pytest.mark.parametrize("words", [["doctor"], ["help"], ["rnu"], ["run", "-c", "1 / 0"]], ids=str)
def test_none_where_they_are_not_wanted(words, environment, program):
    shown = at_a_terminal(program, *words, **environment)
    assert shown
    assert "\x1b" not in shown


def test_an_empty_no_color_means_nothing(program):
    """As no-color.org says: only if it is not an empty string."""
    assert "\x1b" in at_a_terminal(program, "rnu", NO_COLOR="")
