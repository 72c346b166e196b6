"""belljar kernel: finds the Python that has the package, and becomes it."""

import pytest

# Stands for an interpreter: says what it has, and shows what it is asked for.
PYTHON = """#!/bin/sh
[ "$2" = -c ] && exit {status}
printf '%s\\n' "$@"
exit 7
"""


@pytest.fixture
def path(tmp_path):
    """Makes a folder of PATH with an interpreter, which has the package or not."""

    def make(name: str, has: bool, program: str = "python3") -> str:
        folder = tmp_path / name
        folder.mkdir()
        (folder / program).write_text(PYTHON.format(status=0 if has else 1))
        (folder / program).chmod(0o755)
        return str(folder)

    return make


def test_the_module_gets_the_options(belljar, path):
    done = belljar(
        *("kernel", "install", "--prefix", "a b", "--name", "n", "--display-name", "-x"),
        *("--profile", "basic", "--timeout", "5", "--memory", "64m"),
        env={"PATH": path("bin", True)},
    )
    assert (done.code, done.stderr) == (7, "")  # the module's own
    assert done.stdout.splitlines() == [
        *("-P", "-m", "belljar.kernel", "install", "--prefix=a b", "--name=n"),
        *("--display-name=-x", "--profile=basic", "--timeout=5", "--memory=64m"),
    ]
    for flag in ("--user", "--sys-prefix"):
        done = belljar("kernel", "install", flag, env={"PATH": path(flag, True)})
        assert done.stdout.splitlines()[3:] == ["install", flag]
    done = belljar("kernel", "uninstall", "--name", "n", env={"PATH": path("other", True)})
    assert done.stdout.splitlines()[3:] == ["uninstall", "--name=n"]


def test_the_first_interpreter_that_has_the_package_is_taken(belljar, path, tmp_path):
    (tmp_path / "python3").write_text(PYTHON.format(status=0))
    (tmp_path / "python3").chmod(0o755)
    second = path("second", True)
    folders = ["", ".", path("first", False), second, path("third", True)]
    done = belljar("kernel", "install", env={"PATH": ":".join(folders)}, cwd=tmp_path)
    assert done.code == 7
    (tmp_path / "second/python3").unlink()
    (tmp_path / "third/python3").unlink()
    done = belljar("kernel", "install", env={"PATH": ":".join(folders)}, cwd=tmp_path)
    assert done.code == 5, "an interpreter of the working directory was taken"


def test_without_one_the_command_for_pip_is_shown(belljar, path):
    folder = path("bin", False)
    done = belljar("kernel", "install", env={"PATH": folder})
    assert (done.code, done.stdout) == (5, "")
    assert done.stderr == (
        "belljar: error: find a Python with belljar and ipykernel: none of these has both: "
        f"{folder}/python3; install them: {folder}/python3 -m pip install "
        '"belljar-sandbox[kernel]"\n'
    )
    done = belljar("kernel", "uninstall", env={"PATH": ""})
    assert (done.code, done.stdout) == (5, "")
    assert (
        'there is no python3 on PATH; install them: pip install "belljar-sandbox[kernel]"'
        in done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["install", "--user", "--prefix", "x"],
            "--user, --sys-prefix and --prefix are mutually exclusive",
        ),
        (["install", "--profil", "basic"], 'unknown option "--profil"; did you mean'),
        (["install", "more"], 'unexpected argument "more"'),
        (["uninstall", "--user"], 'unknown option "--user"'),
        (["instal"], 'unknown command "instal"; did you mean'),
        ([], "Usage: belljar kernel"),
    ],
)
def test_usage_errors(belljar, path, arguments, said):
    done = belljar("kernel", *arguments, env={"PATH": path("bin", True)})
    assert (done.code, done.stdout) == (2, "")
    assert said in done.stderr
