"""Whatever a program or its input is made of: one clear sentence, and nothing lost."""
# ruff: noqa: E501 programs of other languages

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import PROGRAM
from tests.languages.conftest import NAMED, Run


def refused(*arguments: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [PROGRAM, "run", *arguments], capture_output=True, check=False, cwd=cwd, input=b""
    )
    assert done.returncode == 2, done
    assert done.stdout == b""
    return done.stderr.decode()


def test_an_unknown_language_names_the_nearest(tmp_path: Path) -> None:
    text = refused(NAMED, "javascrpt", "-c", "1", cwd=tmp_path)
    assert 'unknown language "javascrpt"; did you mean "javascript"?' in text
    assert "bash" in text


@pytest.mark.parametrize(
    ("name", "echo"),
    [
        ("bash", 'printf "a\\0\\377b"'),
        ("javascript", 'process.stdout.write(Buffer.from("a\\0\\xffb", "latin1"))'),
    ],
)
def test_binary_output(name: str, echo: str, run: Run) -> None:
    ran = run(name, echo)
    assert (ran.status, ran.stdout) == ("ok", "a\0\ufffdb"), ran.outcome


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("bash", "echo done"),
        ("javascript", "console.log('done')"),
        ("c", '#include <stdio.h>\nint main() { puts("done"); }'),
    ],
)
def test_input_that_is_never_read(name: str, source: str, run: Run) -> None:
    ran = run(name, source, stdin=b"x" * 1_000_000)
    assert (ran.status, ran.stdout) == ("ok", "done\n"), ran.outcome


def test_input_of_a_megabyte_arrives_whole(run: Run) -> None:
    assert run("bash", "wc -c", stdin=b"x" * 1_000_000).stdout == "1000000\n"


@pytest.mark.parametrize("name", ["perl", "c", "javascript"])
def test_lines_that_end_as_on_windows(name: str, run: Run) -> None:
    source = {
        "perl": "print 1;\r\nprint 2;\r\n",
        "c": '#include <stdio.h>\r\nint main() {\r\n  printf("12");\r\n}\r\n',
        "javascript": "process.stdout.write('1');\r\nprocess.stdout.write('2');\r\n",
    }[name]
    assert run(name, source).stdout == "12"


def test_bash_itself_says_what_it_thinks_of_carriage_returns(run: Run) -> None:
    ran = run("bash", "if true; then\r\necho 1\r\nfi\r\n")
    assert (ran.status, ran.error["type"]) == ("exception", "ExitStatus")
    assert ran.error["line"], ran.outcome


@pytest.mark.parametrize("name", ["bash", "c", "javascript"])
def test_nul_in_the_source(name: str, run: Run) -> None:
    ran = run(name, b"\0\0\0")
    assert ran.status in ("ok", "exception"), ran.outcome
    assert ran.stdout == ""


@pytest.mark.parametrize("name", ["bash", "javascript", "perl"])
def test_nothing_at_all(name: str, run: Run) -> None:
    ran = run(name, b"")
    assert (ran.status, ran.stdout, ran.exit_code) == ("ok", "", 0), ran.outcome


def test_a_source_of_ten_megabytes(run: Run) -> None:
    ran = run("bash", b"#" * 10_000_000)
    assert (ran.code, ran.outcome) == (2, {})
    assert "run Bash: the source is larger than the limit of 1m; give data as files" in ran.stderr
    assert run("bash", b"#" * 20_000_000).code == 2
