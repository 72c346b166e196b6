"""belljar completion: the scripts load, and offer what the parser knows."""

import shutil
import subprocess

import pytest

from tests.cli.commands import BELOW, COMMANDS, GROUPS
from tests.machine import lacks

SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_parses(belljar, tmp_path, shell):
    done = belljar("completion", shell)
    assert (done.code, done.stderr) == (0, "")
    lacks(shutil.which(shell), shell)
    script = tmp_path / "script"
    script.write_text(done.stdout)
    checked = subprocess.run([shell, "-n", script], capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_in_it(belljar, shell):
    script = belljar("completion", shell).stdout
    for words in (*COMMANDS, *GROUPS, *BELOW):
        assert words.split()[-1] in script
        for line in belljar(*words.split(), "--help").stdout.splitlines():
            for option in line.split():
                if line.startswith("  --") and option.startswith("--"):
                    name = option.split(",")[0]
                    assert (f"-l {name[2:]}" if shell == "fish" else name) in script


def offered(belljar, tmp_path, *words: str) -> list[str]:
    """What bash would offer for the last of `words`."""
    script = tmp_path / "belljar.bash"
    script.write_text(belljar("completion", "bash").stdout)
    program = f'source "{script}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _belljar; '
    program += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", program, "bash", *words], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stderr == ""
    return sorted(filter(None, done.stdout.splitlines()))


@pytest.mark.parametrize(
    ("words", "offers"),
    [
        (
            ["belljar", ""],
            [
                "audit",
                "changes",
                "completion",
                "config",
                "doctor",
                "help",
                "image",
                "info",
                "kernel",
                "languages",
                "receipt",
                "repl",
                "rules",
                "run",
                "serve",
                "shell",
                "validate",
                "version",
            ],
        ),
        (["belljar", "audit", ""], ["export", "search", "show", "verify"]),
        (["belljar", "audit", "show", "--folder", "a"], ["a folder"]),
        (["belljar", "image", ""], ["build", "verify"]),
        (["belljar", "image", "v"], ["verify"]),
        (["belljar", "image", "build", "--prof"], ["--profile"]),
        (["belljar", "image", "build", "--profile", "ba"], ["basic"]),
        (["belljar", "image", "build", "--output", "my"], ["my program.py"]),
        (["belljar", "image", "verify", "my"], ["my program.py"]),
        (["belljar", "run", "image", "build", "--iso"], ["--isolation"]),
        (["belljar", "kernel", ""], ["install", "uninstall"]),
        (["belljar", "kernel", "install", "--profile", "ba"], ["basic"]),
        (["belljar", "kernel", "install", "--prefix", "a"], ["a folder"]),
        (["belljar", "va"], ["validate"]),
        (["belljar", "--v"], ["--version"]),
        (["belljar", "run", "--iso"], ["--isolation"]),
        (["belljar", "run", "--isolation", ""], ["standard", "strict"]),
        (["belljar", "run", "--isolation", "="], ["standard", "strict"]),
        (["belljar", "run", "--isolation", "=", "str"], ["strict"]),
        (["belljar", "run", "--profile", "ba"], ["basic"]),
        (["belljar", "run", "--profile", "data-science+fi"], ["data-science+filesystem"]),
        (["belljar", "run", "--save-artifacts", "a"], ["a folder"]),
        (["belljar", "run", "--save-artifacts", "my"], []),
        (["belljar", "run", "--file", "my"], ["my program.py"]),
        (["belljar", "serve", "--profiles", "basic,data"], ["basic,data-science"]),
        (["belljar", "run", "--timeout", ""], []),
        (["belljar", "run", "--allow-import", "grap"], ["graphlib"]),
        (["belljar", "run", "--allow-import", "math,grap"], ["math,graphlib"]),
        (
            ["belljar", "validate", "--format", ""],
            ["github", "gitlab", "json", "junit", "sarif", "text"],
        ),
        (["belljar", "rules", "BJ20"], ["BJ201", "BJ202", "BJ203", "BJ204", "BJ205", "BJ206"]),
        (["belljar", "completion", ""], ["bash", "fish", "zsh"]),
        (["belljar", "run", "my"], ["my program.py"]),
        (["belljar", "repl", "my"], []),
        (["belljar", "repl", "--history", "my"], ["my program.py"]),
        (["belljar", "repl", "--output", "a"], ["a folder"]),
        (["belljar", "repl", "--color", ""], ["always", "auto", "never"]),
        (["belljar", "run", "--stdin", "my"], ["my program.py"]),
        (["belljar", "info", "my"], []),
        (["belljar", "serve", "--log-level", ""], ["debug", "error", "info", "off", "warning"]),
        (["belljar", "serve", "--profile", "ba"], ["basic"]),
        (["belljar", "serve", "--allow-import", "math,grap"], ["math,graphlib"]),
        (["belljar", "serve", "--token-file", "my"], ["my program.py"]),
        (["belljar", "serve", "--conf"], ["--config"]),
        (["belljar", "config", "--env-file", "my"], ["my program.py"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_what_bash_offers(belljar, tmp_path, words, offers):
    (tmp_path / "my program.py").write_text("")
    (tmp_path / "a folder").mkdir()
    assert offered(belljar, tmp_path, *words) == offers


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("belljar run --isolation ", {"strict", "standard"}),
        ("belljar va", {"validate"}),
        ("belljar completion ", {"bash", "zsh", "fish"}),
        ("belljar image ", {"build", "verify"}),
        ("belljar image build --pro", {"--profile"}),
    ],
)
def test_what_fish_offers(belljar, tmp_path, line, offers):
    lacks(shutil.which("fish"), "fish")
    script = tmp_path / "belljar.fish"
    script.write_text(belljar("completion", "fish").stdout)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"],
        capture_output=True,
        text=True,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    words = {row.split("\t")[0] for row in done.stdout.splitlines()}
    assert offers <= words
