"""belljar run: how a program's end is told, in exit codes and in words."""

import json
import sys

import pytest


def test_a_program_that_ends_well(belljar):
    done = belljar("run", "-c", "print(6 * 7)")
    assert (done.code, done.out, done.err) == (0, b"42\n", b"")


def test_from_a_file(belljar, tmp_path):
    file = tmp_path / "program.py"
    file.write_text("print('from a file')\n")
    done = belljar("run", file)
    assert (done.code, done.stdout, done.stderr) == (0, "from a file\n", "")


def test_the_name_of_a_file_is_safe_to_look_at(belljar, tmp_path):
    """In a traceback, in a finding and in an object."""
    name, shown = "a\u202e\x1b[31mb.py", r"a\xe2\x80\xae\x1b[31mb.py"
    (tmp_path / name).write_text("1 / 0\n")
    done = belljar("run", name, cwd=tmp_path)
    assert done.code == 1
    assert f'  File "{shown}", line 1, in <module>\n' in done.stderr
    assert "\u202e" not in done.stderr and "\x1b" not in done.stderr
    done = belljar("run", name, "--json", cwd=tmp_path)
    assert shown in json.loads(done.stdout)["error"]["traceback"]
    (tmp_path / name).write_text("import ctypes\n")
    done = belljar("run", name, cwd=tmp_path)
    assert done.stderr.startswith(f"{shown}:1:1: BJ201 ")


@pytest.mark.parametrize("arguments", [["-"], []], ids=["dash", "piped"])
def test_from_standard_input(belljar, arguments):
    done = belljar("run", *arguments, stdin=b"print('piped')")
    assert (done.code, done.stdout, done.stderr) == (0, "piped\n", "")


def test_an_exception_shows_its_traceback_and_nothing_of_ours(belljar, tmp_path):
    (tmp_path / "main.py").write_text("def half(x):\n    return x / 0\n\nhalf(1)\n")
    done = belljar("run", "main.py", cwd=tmp_path)
    assert done.code == 1
    assert done.stdout == ""
    assert (
        done.stderr
        == (
            "Traceback (most recent call last):\n"
            '  File "main.py", line 4, in <module>\n'
            "    half(1)\n"
            # 3.13 marks what was called, too.
            + ("    ~~~~^^^\n" if sys.version_info >= (3, 13) else "")
            + '  File "main.py", line 2, in half\n'
            "    return x / 0\n"
            "           ~~^~~\n"
            "ZeroDivisionError: division by zero\n"
        )
    )


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("import sys\ngetattr(sys, 'setdlopenflags')(1)", "dir(sys) lists the available names"),
        ("getattr(int, '__getattribute__')", "Use getattr(object, name)"),
        (
            "import fractions\nfractions.Fraction.unit = 1",
            "Change an object or class that the program created.",
        ),
        (
            "import sys\nsys.setrecursionlimit(9000)\ndef f(): f()\nf()",
            "calls are nested too deep",
        ),
    ],
)
def test_the_hint_is_about_what_was_refused(belljar, source, hint):
    done = belljar("run", "-c", source)
    lines = done.stderr.splitlines()
    assert done.code == 1 and lines[-1].startswith(f"hint: {hint}"), done.stderr
    # A name that is withheld is spelled right: one that looks alike is something else.
    assert "Did you mean" not in lines[-2]


INSTALLS = (
    "A program installs nothing: the packages are those of its profile, or those that its caller "
    "asks for where the operator allows it."
)


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("```python\nprint(1)\n```\n", "Leave out the Markdown fence around the program."),
        ("x = 1\n```\n", "Leave out the Markdown fence around the program."),
        ("x = 1\r```\r", "Leave out the Markdown fence around the program."),
        (">>> x = 1\n", "Leave out the prompts of the interactive interpreter."),
        ("import math\n%timeit 1 + 1\n", "A notebook's or a shell's command is not Python."),
        (
            "import math\n%matplotlib inline\n",
            "Leave out this line of a notebook: open figures are shown by themselves.",
        ),
        ("pip install numpy", INSTALLS),
        ("import math\n!pip install numpy\n", INSTALLS),
    ],
)
def test_what_is_pasted_along_with_a_program_is_named(belljar, source, hint):
    ran = belljar("run", "-c", source)
    assert ran.code == 1 and ran.stderr.splitlines()[-1] == f"hint: {hint}"
    judged = belljar("validate", "-", stdin=source.encode())
    assert judged.code == 1 and judged.stdout.splitlines()[-1] == f"  hint: {hint}"
    assert "hint" not in belljar("run", "-c", "x = (1 +\n").stderr


@pytest.mark.parametrize(
    "source",
    [
        "import configparser\nconfigparser.ConfigParser().read('settings.ini')",
        "class Meta(type):\n    def mro(cls): return []",
    ],
)
def test_a_refusal_without_more_to_say_has_no_hint(belljar, source):
    done = belljar("run", "-c", source)
    assert done.code == 1 and done.stderr.splitlines()[-1].split("[")[1].startswith("BJ"), (
        done.stderr
    )


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess\nsubprocess.run(['pip', 'install', 'requests'])",
        "import subprocess, sys\nsubprocess.check_call([sys.executable, '-m', 'pip'])",
        "import os\nos.system('pip install requests')",
        "import pip",
    ],
)
def test_a_program_that_installs_packages_is_told_who_may(belljar, source):
    assert INSTALLS in belljar("run", "-c", source).stderr


def test_a_program_that_starts_another_one_is_not_told_of_packages(belljar):
    assert INSTALLS not in belljar("run", "-c", "import subprocess\nsubprocess.run(['ls'])").stderr


def test_quotes_within_an_f_string(belljar):
    """Python 3.12 takes them."""
    ran = belljar("run", "-c", "d = {'k': 1}\nprint(f'{d['k']}')")
    if ran.code == 0:
        assert ran.stdout == "1\n"
    else:
        assert "use the other kind inside" in ran.stderr.splitlines()[-1]


def test_a_file_that_was_not_passed_along(belljar, tmp_path):
    program = tmp_path / "main.py"
    program.write_text("print(open('data.csv').read())")
    (tmp_path / "data.csv").write_text("1,2")
    without = belljar("run", "--profile", "basic", str(program))
    assert without.code == 3 and "filesystem" in without.stderr
    alone = belljar("run", "--profile", "filesystem", str(program))
    assert "FileNotFoundError" in alone.stderr and "--file FILE" in alone.stderr.splitlines()[-1]
    given = belljar(
        "run", "--profile", "filesystem", "--file", str(tmp_path / "data.csv"), str(program)
    )
    assert given.stdout == "1,2\n", given.stderr


def test_a_hint_follows_the_traceback(belljar):
    done = belljar("run", "-c", "input()")
    assert done.code == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-2].startswith("EOFError: ")
    assert lines[-1] == "hint: pass the program's input as stdin"


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("import io\nio.StringIO.x = 1", "Change an object or class that the prog"),
        ("import fractions\nfractions.Fraction.x = 5", "Change an object or class that the prog"),
    ],
)
def test_the_hint_of_a_store_to_the_librarys_class(belljar, source, hint):
    done = belljar("run", "-c", source)
    assert done.code == 1
    assert done.stderr.splitlines()[-1].startswith(f"hint: {hint}")


def test_a_syntax_error_is_an_exception(belljar):
    done = belljar("run", "-c", "def f(:")
    assert done.code == 1
    assert done.stderr == (
        '  File "<string>", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n'
    )


@pytest.mark.parametrize(
    ("argument", "code", "stderr"),
    [("", 0, ""), ("0", 0, ""), ("None", 0, ""), ("3", 1, ""), ("'bye'", 1, "bye\n")],
)
def test_sys_exit(belljar, argument, code, stderr):
    done = belljar("run", "-c", f"import sys; print('x'); sys.exit({argument})")
    assert (done.code, done.stdout, done.stderr) == (code, "x\n", stderr)


def test_refused_names_every_place(belljar, tmp_path):
    (tmp_path / "main.py").write_text("import math\nimport ctypes\nprint('never')\nopen('x')\n")
    done = belljar("run", "main.py", cwd=tmp_path)
    assert done.code == 3
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[0].startswith("main.py:2:1: BJ201 ")
    assert lines[1].startswith("  hint: ")
    assert [line for line in lines if line.startswith("main.py:4:")]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--timeout", "300ms"], "while True: pass", "stopped after 300ms of wall time; "),
        (["--cpu", "200ms"], "while True: pass", "stopped after 200ms of CPU time; "),
    ],
    ids=["timeout", "cpu"],
)
def test_a_limit_keeps_the_output_and_says_where(belljar, arguments, code, said):
    done = belljar("run", "-c", f"print('before', flush=True)\n{code}", *arguments)
    assert done.code == 4
    assert done.stdout == "before\n"
    *place, last = done.stderr.splitlines()
    assert place == [
        "Traceback (most recent call last):",
        '  File "<string>", line 2, in <module>',
        f"    {code}",
    ]
    assert last.startswith(f"belljar: {said}")


def test_the_memory_limit_says_so_in_one_line(belljar):
    code = "print('before', flush=True)\nx = 'a' * 10**10"
    done = belljar("run", "-c", code, "--memory", "64m")
    assert (done.code, done.stdout) == (4, "before\n")
    assert done.stderr.startswith("belljar: stopped at 64m of memory; ")
    assert done.stderr.count("\n") == 1


def test_cpu_follows_the_timeout(belljar):
    done = belljar("run", "-c", "while True: pass", "--timeout", "300ms", "--cpu", "5")
    assert "of wall time" in done.stderr


def test_killed(belljar):
    done = belljar("run", "--policy", "off", "-c", "import os; os._exit(3)")
    assert (done.code, done.stderr) == (4, "belljar: the process exited with code 3\n")


def test_dropped_output_is_counted(belljar):
    done = belljar("run", "-c", "print('x' * 22345)", "--max-output", "10k")
    assert done.code == 0
    assert done.out == b"x" * 10240
    said = "belljar: 12,106 bytes of stdout were discarded (limit 10k, --max-output)\n"
    assert done.stderr == said


def test_both_streams_in_order_and_byte_for_byte(belljar):
    code = "import sys; sys.stdout.buffer.write(bytes(range(256))); print('err', file=sys.stderr)"
    done = belljar("run", "--policy", "off", "-c", code)
    assert (done.code, done.out, done.err) == (0, bytes(range(256)), b"err\n")


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("6 * 7", "42\n"),
        ("'a'", "'a'\n"),
        ("None", ""),
        ("result = [1]", "[1]\n"),
        ("{}", "{}\n"),
        ("[1, 2]", "[1, 2]\n"),
        ("x = 1", ""),
        ("", ""),
    ],
)
def test_the_result_is_shown_only_when_asked_for(belljar, code, shown):
    assert belljar("run", "-c", code).out == b""
    done = belljar("run", "--show-result", "-c", code)
    assert (done.code, done.stdout, done.stderr) == (0, shown, "")


def test_standard_input_of_the_program(belljar, tmp_path):
    file = tmp_path / "data.txt"
    file.write_text("one\ntwo\n")
    code = "print(input(), input())"
    assert belljar("run", "-c", code, "--stdin", file).stdout == "one two\n"
    assert (
        belljar("run", "-c", code, "--stdin", "-", stdin=b"three\nfour\n").stdout == "three four\n"
    )
    # Ours is not the program's unless it is asked for.
    assert belljar("run", "-c", code, stdin=b"three\nfour\n").code == 1


def test_standard_input_is_bounded_by_the_memory_limit(belljar):
    done = belljar("run", "-c", "1", "--stdin", "/dev/zero", "--memory", "8m")
    assert done.code == 2
    assert '--stdin "/dev/zero" is more than the memory limit of 8m; raise --memory' in done.stderr


def test_allow_import_narrows(belljar):
    use = "import math, json; print(math.floor(1.5), json.dumps(1))"
    assert belljar("run", "-c", use, "--allow-import", "math,json").code == 0
    assert belljar("run", "-c", use, "--allow-import", "math", "--allow-import", "json").code == 0
    assert belljar("run", "-c", use, "--allow-import", "math").code == 3
    assert belljar("run", "-c", use, "--allow-import", "").code == 3


def test_allow_import_leaves_the_file_alone(belljar, tmp_path):
    file = tmp_path / "program.py"
    file.write_text("import math\nprint(math.floor(2.5))")
    done = belljar("run", "--allow-import", "math", file)
    assert (done.code, done.stdout) == (0, "2\n")


def test_without_the_policy(belljar):
    done = belljar("run", "--policy", "off", "-c", "import os; print(os.getpid())")
    assert (done.code, done.stdout) == (0, "1\n")


def test_own_profile(belljar, tmp_path):
    shipped = belljar("info", "--json")
    assert shipped.code == 0
    done = belljar("run", "--profile", tmp_path / "none.toml", "-c", "1")
    assert done.code == 2
    assert "No such file or directory (ENOENT)" in done.stderr
    (tmp_path / "own.toml").write_text("schema = 1\nnmae = 'own'\n")
    done = belljar("run", "--profile", "./own.toml", "-c", "1", cwd=tmp_path)
    assert done.code == 2
    assert 'unknown key "nmae"; did you mean "name"?' in done.stderr
    (tmp_path / "own.toml").write_text("a." * 500_000 + "b = 1\n")
    done = belljar("run", "--profile", "./own.toml", "-c", "1", cwd=tmp_path)
    assert (done.code, "own.toml:1: a key of more than 32 names" in done.stderr) == (2, True)


@pytest.mark.parametrize("profile", ["basic", "full"])
def test_the_time_zone_of_the_environment(belljar, profile):
    source = (
        "import datetime, os, time\n"
        "print(time.timezone, datetime.datetime.fromtimestamp(0).hour)\n"
        "os.environ['TZ'] = 'America/New_York'\n"
        "time.tzset()\n"
        "print(time.tzname, datetime.datetime.fromtimestamp(0).hour)\n"
    )
    ran = belljar("run", "--profile", profile, "--env", "TZ=Asia/Shanghai", "-c", source)
    assert ran.stdout == "-28800 8\n('EST', 'EDT') 19\n", ran.stderr
    odd = belljar("run", "--profile", profile, "--env", "TZ=/etc/passwd", "-c", "import time")
    assert odd.code == 0, odd.stderr
