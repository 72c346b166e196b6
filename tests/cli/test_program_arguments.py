"""belljar run: the program's own arguments and environment."""

import json

import pytest

SHOW = "import os, sys\nprint(sys.argv[1:], dict(os.environ))"


@pytest.mark.parametrize(
    ("given", "got"),
    [
        (["FILE"], []),
        (["FILE", "x", "y z"], ["x", "y z"]),
        (["FILE", "x", "--timeout", "5", "y"], ["x", "y"]),
        (["FILE", "x", "--", "--verbose", "-n", "--", "y"], ["x", "--verbose", "-n", "--", "y"]),
        (["FILE", "--", "--help"], ["--help"]),
        (["FILE", "--"], []),
        (["--", "FILE", "--version", "info"], ["--version", "info"]),
        (["FILE", "info", "run"], ["info", "run"]),
        (["FILE", "[1,2]", "", "-"], ["[1,2]", "", "-"]),
        (["-c", SHOW, "a.py", "b"], ["a.py", "b"]),
        (["-c", SHOW, "--", "-c", "b"], ["-c", "b"]),
    ],
)
def test_arguments(belljar, tmp_path, given, got):
    program = tmp_path / "program.py"
    program.write_text(SHOW)
    done = belljar("run", *(program if each == "FILE" else each for each in given))
    assert (done.code, done.stdout, done.stderr) == (0, f"{got} {{}}\n", "")


def test_the_environment_is_the_callers(belljar):
    done = belljar("run", "-c", SHOW, "--env", "A=1", "--env=B=x=y", "--env", "LD_PRELOAD=z")
    assert done.stdout == "[] {'A': '1', 'B': 'x=y', 'LD_PRELOAD': 'z'}\n"


@pytest.mark.parametrize("policy", ["on", "off"])
def test_with_and_without_the_policy(belljar, policy):
    code = "import os, sys\nprint(sys.argv[1:], os.environ['A'], 'HOME' in os.environ)"
    done = belljar("run", "--policy", policy, "-c", code, "--env", "A=1", "--", "-x")
    assert (done.code, done.stdout) == (0, "['-x'] 1 False\n"), done


def test_libraries_do_not_see_it(belljar):
    """A restricted program's environment is no one else's: libraries take names of files and
    modules from the process's own."""
    code = "import os, shutil\nprint(os.environ['HOME'], os.path.expanduser('~'))"
    ran = belljar("run", "--profile", "filesystem", "-c", code, "--env", "HOME=/etc")
    assert ran.stdout == "/etc /workspace\n", ran.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--env", "A"], 'take environment variable "A": it has no value: NAME=VALUE'),
        (["--env", "=1"], 'take environment variable "": it has no name: NAME=VALUE'),
        (["--env", "A=1", "--env", "A=2"], 'take environment variable "A": it occurs twice'),
        (["--env", "A=" + "x" * 70_000], "bytes long; the maximum is 65536"),
        (["--env", "N" * 300 + "=1"], "has a name of 300 bytes; the maximum is 256"),
        (["x" * 70_000], "take argument 1: it is 70000 bytes long; the maximum is 65536"),
        ([b"\xff"], "take argument 1: it is not UTF-8"),
        (["x"] * 1001, "take arguments: there are 1001; the maximum is 1000"),
        (["x" * 60_000] * 5, "they are 300000 bytes long together; the maximum is 262144"),
    ],
)
def test_what_is_refused(belljar, arguments, told):
    done = belljar("run", "-c", "print('ran')", *arguments)
    assert done.code == 2 and done.out == b""
    assert told in done.stderr


def test_an_option_of_the_program_without_dashes(belljar):
    done = belljar("run", "a.py", "--verbose")
    assert done.code == 2
    assert "belljar run program.py -- --verbose" in done.stderr


def test_the_files_name(belljar, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import os.path, sys\n(os.path.basename(__file__), sys.argv[0] == __file__)")
    done = belljar("run", program, "--json")
    assert json.loads(done.stdout)["result"] == ["program.py", True]
