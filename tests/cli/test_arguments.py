"""What is wrong with the arguments is said, with what to write instead; nothing crashes."""

import os
import pty
import random
import subprocess

import pytest

COMMANDS = ("run", "validate", "serve", "config", "info", "doctor", "completion", "help", "version")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu", "x"], 'belljar: unknown command "rnu"; did you mean "run"?'),
        (["frobnicate"], 'belljar: unknown command "frobnicate"'),
        (["a.py"], 'belljar: unknown command "a.py"; to run a file: belljar run a.py'),
        (["--jsn", "info"], 'belljar: unknown option "--jsn"'),
        (["--versoin"], 'belljar: unknown option "--versoin"; did you mean "--version"?'),
        (
            ["run", "--timout", "5"],
            'belljar run: unknown option "--timout"; did you mean "--timeout"?',
        ),
        (
            ["run", "--timout=5", "x.py"],
            'belljar run: unknown option "--timout"; did you mean "--timeout"?',
        ),
        (["validate", "--fix"], 'belljar validate: unknown option "--fix"'),
        (["run", "a.py", "x", "--verbose"], 'belljar run: unknown option "--verbose"'),
        (["run", "a.py", "-5"], 'belljar run: unknown option "-5"'),
        (["info", "x"], 'belljar info: unexpected argument "x"'),
        (["run", "-c"], "belljar run: -c: 1 required CODE missing"),
        (
            ["run", "-", "--stdin", "-"],
            "belljar run: standard input cannot be both the program and its --stdin",
        ),
        (
            ["run", "--stdin", "-"],
            "belljar run: standard input cannot be both the program and its --stdin",
        ),
        (
            ["run", "-c", "1", "--isolation", "strct"],
            'belljar run: --isolation: "strct" is none of strict|standard; did you mean "strict"?',
        ),
        (
            ["run", "-c", "1", "--policy", "offf"],
            'belljar run: --policy: "offf" is none of on|off; did you mean "off"?',
        ),
        (
            ["repl", "--language", "perl"],
            "belljar repl: Perl programs run one at a time; sessions are in python, bash",
        ),
        (
            ["serve", "--language", "perl"],
            'belljar serve: --language: "perl" is none of python',
        ),
        (
            ["run", "-c", "1", "--policy", "on", "--language", "full"],
            "belljar run: --policy on and --language full contradict each other; omit --language",
        ),
        (
            ["serve", "--check", "--policy", "off", "--language", "restricted"],
            'belljar serve: --language "restricted": it contradicts --policy "off", its new name',
        ),
        (
            ["run", "-c", "1", "--runtime", "runsc"],
            "belljar run: --runtime requires --container",
        ),
        (
            ["run", "-c", "1", "--require-gvisor"],
            "belljar run: --require-gvisor requires --container",
        ),
        (
            ["run", "-c", "1", "--container", "--runtime", "runcs"],
            'belljar run: --runtime: "runcs" is none of auto|runsc|runc; did you mean "runc"?',
        ),
        (
            ["run", "-c", "1", "--container", "--runtime", "runc", "--require-gvisor"],
            "belljar run: --require-gvisor and --runtime runc: runc is not gVisor",
        ),
        (
            ["run", "-c", "1", "--container", "--engine", "runsc", "--runtime", "runc"],
            "belljar run: --engine runsc starts containers by runsc alone",
        ),
        (
            ["run", "-c", "1", "--container", "--isolation", "strict"],
            "belljar run: --isolation strict cannot be combined with --container",
        ),
        (
            ["run", "-c", "1", "--container", "--without", "landlock"],
            "belljar run: --without cannot be combined with --container",
        ),
        (
            ["run", "-c", "1", "--container", "--engine", "runsc", "--engine-socket", "/s"],
            "belljar run: --engine runsc has no socket",
        ),
        (
            ["run", "-c", "1", "--package", "six", "--package-index", "https://a.org/simple"],
            "belljar run: --package: they require a container",
        ),
        (
            ["run", "-c", "1", "--container", "--package-host", "a.org"],
            "belljar run: --package-host requires --package",
        ),
        (
            ["run", "-c", "1", "--without", "landlok"],
            'belljar run: --without "landlok" is none of '
            'namespaces|privileges|rlimits|landlock|seccomp; did you mean "landlock"?',
        ),
        (
            ["run", "-c", "1", "--profile", "basci"],
            'belljar run: unknown profile "basci"; did you mean "basic"? The profiles are basic',
        ),
        (
            ["run", "-c", "1", "--profile", "data-science+filesytem"],
            'belljar run: unknown profile "filesytem"; did you mean "filesystem"?',
        ),
        (
            ["run", "-c", "1", "--profile", "filesystem+"],
            'belljar run: unknown profile ""; the profiles are basic',
        ),
        (
            ["run", "-c", "1", "--profile", "filesystem,network"],
            'belljar run: unknown profile "filesystem,network"; the profiles are basic, '
            "data-science, filesystem, full, network; several are joined with +",
        ),
        (
            ["run", "-c", "1", "--profile", "filesystem+./own.toml"],
            'belljar run: there is no file "filesystem+./own.toml", and a file of your own cannot '
            "be joined with +",
        ),
        (
            ["run", "-c", "1", "--allow-domain", "example.org"],
            "belljar run: profile basic has no network access: --allow-domain and related options "
            "require --profile network",
        ),
        (
            ["run", "-c", "1", "--profile", "network", "--allow-domain", "http://example.org"],
            'belljar run: allowed domain "http://example.org": write the host alone: no https://',
        ),
        (
            ["run", "-c", "1", "--allow-import", "maths"],
            'belljar run: --allow-import: profile basic has no module "maths"; '
            'did you mean "math"?',
        ),
        (
            ["run", "-c", "1", "--allow-import", "math", "--policy", "off"],
            "belljar run: --allow-import has no effect with --policy off: without the language "
            "policy, a program may import any module",
        ),
        (["run", "/"], 'belljar run: "/" has no __main__.py; name the file to run'),
        (["run", "/nowhere"], 'belljar run: open "/nowhere": No such file or directory (ENOENT)'),
        (
            ["run", "-c", "1", "--stdin", "/nowhere"],
            'belljar run: open "/nowhere": No such file or directory (ENOENT)',
        ),
        (["completion", "tcsh"], 'belljar completion: "tcsh" is none of bash|zsh|fish'),
        (["completion"], "belljar completion: SHELL is required"),
        (["run", "-c", "1", "-c", "2"], "belljar run: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage_errors(belljar, arguments, message):
    done = belljar(*arguments)
    assert done.code == 2
    assert done.stdout == ""
    assert done.stderr.startswith(message)
    assert done.stderr.splitlines()[-1].startswith('Try "belljar')


DURATION = "write seconds, such as 30 or 1.5, or a number with ms, s or m, up to one day"
SIZE = "write a whole number with an optional k, m or g, such as 128m"


@pytest.mark.parametrize("option", ["--timeout", "--cpu"])
@pytest.mark.parametrize(
    "value", ["", "0", "-1", "nan", "inf", "1e3", "ten", "5 s", "5x", "999999999"]
)
def test_durations_that_are_none(belljar, option, value):
    done = belljar("run", "-c", "1", option, value)
    assert done.code == 2
    assert done.stderr.startswith(f'belljar run: {option} "{value}": {DURATION}\n')


@pytest.mark.parametrize("option", ["--memory", "--max-output"])
@pytest.mark.parametrize("value", ["", "-1", "nan", "1.5m", "m", "12q", "99999999999999999999"])
def test_sizes_that_are_none(belljar, option, value):
    done = belljar("run", "-c", "1", option, value)
    assert done.code == 2
    assert done.stderr.startswith(f'belljar run: {option} "{value}": {SIZE}\n')


@pytest.mark.parametrize("option", ["--memory", "--max-output"])
def test_a_size_of_nothing(belljar, option):
    done = belljar("run", "-c", "1", option, "0")
    assert done.code == 2
    assert done.stderr.startswith(
        f'belljar run: {option} "0": the size must be greater than zero\n'
    )


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--timeout", "1000", "1000s: the maximum of profile basic is 300s"),
        ("--cpu", "10m", "600s: the maximum of profile basic is 300s"),
        ("--memory", "100g", "100g: the maximum of profile basic is 4g"),
        ("--max-output", "1g", "1g: the maximum of profile basic is 16m"),
    ],
)
def test_above_the_maximum(belljar, option, value, said):
    done = belljar("run", "-c", "1", option, value)
    assert done.code == 2
    assert done.stderr.startswith(f"belljar run: {option} {said}\n")


@pytest.mark.parametrize("command", ["run", "validate"])
def test_without_a_file_at_a_terminal(program, command):
    master, slave = pty.openpty()
    done = subprocess.run(
        [program, command], stdin=slave, capture_output=True, text=True, timeout=20
    )
    os.close(master)
    os.close(slave)
    assert done.returncode == 2
    assert f"  belljar {command} program.py" in done.stderr
    assert f"belljar {command} - < program.py" in done.stderr


def test_without_arguments_it_shows_the_commands(belljar):
    done = belljar()
    assert done.code == 2
    assert done.stdout == ""
    for command in COMMANDS:
        assert f"\n  {command} " in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(belljar, command):
    done = belljar(command, "--help")
    assert (done.code, done.stderr) == (0, "")
    assert f"Usage: belljar {command}" in done.stdout
    _, examples = done.stdout.split("\nExamples:\n")
    lines = examples.splitlines()
    assert len(lines) >= 2
    assert all(f"belljar {command}" in line and "  # " in line for line in lines)
    assert belljar(command, "-h").out == done.out


def test_help_fits_in_a_hundred_columns(belljar):
    for arguments in ([], *([command] for command in COMMANDS)):
        for line in belljar(*arguments, "--help").stdout.splitlines():
            assert len(line) <= 100, line


def test_version(belljar):
    done = belljar("--version")
    assert (done.code, done.stderr) == (0, "")
    name, version, python = done.stdout.strip().split(" ", 2)
    assert name == "belljar"
    assert version.count(".") == 2
    assert python.startswith("(CPython 3.")


def test_names_with_bad_bytes_are_shown_harmlessly(belljar):
    done = belljar("run", b"/nowhere\xff\x1b[31m\n\xc2\x9b")
    assert done.code == 2
    first = done.err.split(b"\n")[0].decode("ascii")
    assert first == (
        r'belljar run: open "/nowhere\xff\x1b[31m\x0a\xc2\x9b": '
        "No such file or directory (ENOENT)"
    )
    done = belljar(b"\xff\x1b")
    assert done.err.startswith(rb'belljar: unknown command "\xff\x1b"')


def test_a_file_with_a_bad_name_runs(belljar, tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xff\n.py")
    with open(path, "wb") as file:
        file.write(b"1/0")
    assert belljar("run", path).code == 1
    done = belljar("validate", "--format", "json", path)
    assert done.code == 0
    assert "�" in done.stdout


def test_a_name_with_a_dash_after_two_dashes(belljar, tmp_path):
    (tmp_path / "-x.py").write_text("print('dashed')")
    done = belljar("run", "--", "-x.py", cwd=tmp_path)
    assert (done.code, done.stdout) == (0, "dashed\n")


def test_a_file_named_like_a_command(belljar, tmp_path):
    (tmp_path / "info").write_text("print('mine')")
    done = belljar("run", "info", cwd=tmp_path)
    assert (done.code, done.stdout) == (0, "mine\n")


WORDS = [
    *COMMANDS, "-", "--", "---", "--=", "-=", "", " ", "++", "{}", "%%", "[1,2]", "[", "]", "/",
    "=", "-c", "-cprint(1)", "1/0", "--json", "--json=", "--json=x", "--json=-1", "--help", "-h",
    "-hc", "-x", "--timeout", "--timeout=1", "--timeout=", "--cpu", "5", "nan", "--memory", "64m",
    "--stdin", "--profile", "basic", "./x.toml", "--allow-import", "math,,json", ",", "bash",
    "--isolation", "standard", "--policy", "off", "--language", "--without", "landlock", "--format",
    "--names", "--version", "--show-result", b"\xff\xfe", "é", "a\nb", "x" * 5000,
    "--" + "y" * 300, "/dev/null", "/dev/full",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_any_arguments_end_in_an_exit_code(belljar, seed):
    choose = random.Random(seed)
    for _ in range(20):
        arguments = [choose.choice(WORDS) for _ in range(choose.randrange(7))]
        # These take a while each, and have tests of their own.
        if choose.random() < 0.9:
            arguments = [word for word in arguments if word != "doctor"]
        done = belljar(*arguments)
        assert done.code in range(5), (arguments, done)
        assert b"terminate called" not in done.err, arguments
