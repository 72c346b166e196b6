"""Sources that nobody should write: each is an outcome with a clear word, none is a crash."""

import os
import subprocess

import pytest

from tests.machine import need_open


@pytest.mark.parametrize(
    ("source", "output"),
    [
        (b"", b""),
        (b"\n\n", b""),
        (b"# only\n# comments", b""),
        (b"\xef\xbb\xbfprint('mark')\n", b"mark\n"),
        (b"print('one')\r\nif True:\r\n    print('two')\r\n", b"one\ntwo\n"),
        (b"print('one')\rprint('two')\r", b"one\ntwo\n"),
        ("print('é')".encode(), "é\n".encode()),
        (b"print('no newline at the end')", b"no newline at the end\n"),
    ],
    ids=["empty", "blank", "comments", "mark", "crlf", "cr", "utf-8", "no-newline"],
)
def test_odd_but_right(belljar, source, output):
    done = belljar("run", "-", stdin=source)
    assert (done.code, done.out, done.err) == (0, output, b"")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"x = 1\0\n", "SyntaxError: source code cannot contain NUL characters"),
        (b"x = '\xff'\n", "SyntaxError: invalid UTF-8 at line 1, column 6: byte 0xff"),
        (b"if True:\n\tx = 1\n        y = 2\n", "TabError: "),
        (b"# coding: latin-1\nx = 1", "SyntaxError: encoding 'latin-1' is not supported"),
        (b"(" * 10_000 + b")" * 10_000, "SyntaxError: "),
        (b"-" * 100_000 + b"1", "SyntaxError: "),
    ],
    ids=["nul", "bad-utf-8", "tabs", "coding", "parentheses", "minus"],
)
def test_wrong(belljar, source, said):
    done = belljar("run", "-", stdin=source)
    assert done.code == 1
    assert done.stdout == ""
    assert said in done.stderr


def test_ten_megabytes(belljar, tmp_path):
    file = tmp_path / "big.py"
    file.write_bytes(b"x = 1\n" * (10 * 1024 * 1024 // 6))
    done = belljar("run", file)
    assert done.code == 3
    assert done.stderr.startswith(f"{file}: BJ003 source is 10.0 MB; the limit is 1.0 MB\n  hint: ")


@pytest.mark.parametrize("command", ["run", "validate"])
def test_above_the_maximum_of_the_profile(belljar, program, command):
    # A pipe without an end: the size is not known.
    with open("/dev/zero", "rb") as zeros:
        done = subprocess.run([program, command, "-"], stdin=zeros, capture_output=True, text=True)
    assert done.returncode == (3 if command == "run" else 1)
    said = done.stderr if command == "run" else done.stdout
    assert said.startswith(
        "<stdin>: BJ003 source is more than 16,777,216 bytes; the limit is 16m\n"
    )


def test_a_file_that_may_not_be_read(program, tmp_path):
    file = tmp_path / "secret.py"
    file.write_text("print(1)")
    file.chmod(0)
    if os.geteuid() != 0:
        done = subprocess.run([program, "run", file], capture_output=True, text=True)
    else:
        tmp_path.chmod(0o755)
        # Root reads everything: be somebody else, whose right is only to start the program.
        command = ["setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", program]
        need_open(program)
        done = subprocess.run([*command, "run", file], capture_output=True, text=True)
    assert done.returncode == 2
    assert "Permission denied (EACCES)" in done.stderr
