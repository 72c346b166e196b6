"""belljar validate: which findings are reported, and how a pipeline gets them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time

import pytest

from tests.clocks import until

CODE = "import glob\nopen('x')\n[].__class__.__getnewargs__()\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.py").write_text(CODE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/b.py").write_text(CODE)
    return tmp_path


def rules(done) -> list[str]:
    """The rules of the findings on standard output."""
    lines = done.stdout.splitlines()
    return [line.split(": ")[1][:5] for line in lines if not line.startswith(" ")]


# --- selection ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), ["BJ201", "BJ501", "BJ301"]),
        (("--select", "BJ2"), ["BJ201"]),
        (("--select", "BJ2,BJ501"), ["BJ201", "BJ501"]),
        (("--select", "BJ2", "--select", "BJ5"), ["BJ201", "BJ501"]),
        (("--ignore", "BJ301"), ["BJ201", "BJ501"]),
        (("--select", "BJ", "--ignore", "BJ2,BJ3"), ["BJ501"]),
        (("--ignore", "BJ"), []),
    ],
)
def test_select_and_ignore(belljar, folder, arguments, expected):
    done = belljar("validate", "a.py", *arguments, cwd=folder)
    assert rules(done) == expected
    assert done.code == (1 if expected else 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--select", "BJ999"), '--select: there is no rule "BJ999"'),
        (("--ignore", "BJ51"), 'there is no rule "BJ51"; did you mean "BJ501"?'),
        (("--select", "E501"), 'there is no rule "E501"'),
        (("--ignore", "BJ001"), "always reported; to skip a file use --exclude"),
        (("--jobs", "0"), "write a whole number from 1 to 256"),
        (("--jobs", "many"), "write a whole number from 1 to 256"),
        (("--allow-import", "maths"), 'has no module "maths"; did you mean "math"?'),
        (("--profile", "basci"), "basci"),
        (
            ("--baseline", "nowhere.json"),
            'baseline "nowhere.json": it does not exist yet: create it with',
        ),
        (("--config", "nowhere.toml"), "nowhere.toml"),
        (("--config", "x", "--isolated"), "are mutually exclusive"),
        (("--output", "no/where.txt"), 'write "no/where.txt": No such file or directory'),
        (("--output", "tests"), 'write "tests": Is a directory'),
        (("--fromat", "json"), 'did you mean "--format"?'),
    ],
)
def test_a_wrong_option_is_said(belljar, folder, arguments, words):
    done = belljar("validate", "a.py", *arguments, cwd=folder)
    assert (done.code, done.stdout) == (2, "")
    assert words in done.stderr


def test_what_could_not_be_judged_is_never_hidden(belljar, tmp_path):
    (tmp_path / "a.py").write_text("x = (  # belljar: ignore[BJ001]\n")
    config = '[validate]\nselect = ["BJ3"]\nignore = ["BJ"]\nallow-ignore-comments = true\n'
    (tmp_path / "belljar.toml").write_text(config)
    done = belljar("validate", ".", "--write-baseline", "known.json", cwd=tmp_path)
    assert (done.code, rules(done)) == (1, ["BJ001"])
    assert json.loads((tmp_path / "known.json").read_text())["findings"] == []
    done = belljar("validate", ".", "--baseline", "known.json", cwd=tmp_path)
    assert (done.code, rules(done)) == (1, ["BJ001"])


def test_fewer_modules(belljar, tmp_path):
    (tmp_path / "a.py").write_text("import math\nimport json\n")
    done = belljar("validate", "a.py", "--allow-import", "math", cwd=tmp_path)
    assert (done.code, done.stdout.splitlines()[0][:11]) == (1, "a.py:2:1: B")
    assert rules(done) == ["BJ205"]


# --- comments -----------------------------------------------------------------------------------

COMMENTED = """\
import glob  # belljar: ignore[BJ201]
open("x")  # belljar: ignore[BJ201, BJ501] and this is why
open("# belljar: ignore[BJ501]")
x = 1  # belljar: ignore[BJ501]
open("y")  # belljar: ignore
f'''
{open("z")}  # belljar: ignore[BJ501]
'''
"""


def test_comments_count_only_where_the_operator_says_so(belljar, tmp_path):
    (tmp_path / "a.py").write_text(COMMENTED)
    assert rules(belljar("validate", ".", cwd=tmp_path)) == ["BJ201"] + ["BJ501"] * 4
    config = tmp_path / "belljar.toml"
    config.write_text("[validate]\nallow-ignore-comments = true\n")
    done = belljar("validate", ".", cwd=tmp_path)
    # Neither in a string nor in what only looks like one to a reader of lines.
    assert [line[:7] for line in done.stdout.splitlines() if line[0] != " "] == [
        "a.py:3:",
        "a.py:5:",
        "a.py:7:",
    ]
    assert done.stderr.splitlines() == [
        "belljar validate: note: a.py:2: no BJ201 finding to ignore",
        "belljar validate: note: a.py:4: no BJ501 finding to ignore",
        'belljar validate: note: a.py:5: invalid comment; write "# belljar: ignore[BJ501]"',
        "3 findings in 1 of 1 file; 2 suppressed",
    ]
    assert len(rules(belljar("validate", ".", "--isolated", cwd=tmp_path))) == 5


def test_notes_have_an_end(belljar, tmp_path):
    (tmp_path / "a.py").write_text("x = 1  # belljar: ignore[BJ501]\n" * 3000)
    (tmp_path / "belljar.toml").write_text("[validate]\nallow-ignore-comments = true\n")
    done = belljar("validate", ".", cwd=tmp_path)
    assert done.code == 0
    lines = done.stderr.splitlines()
    assert len(lines) == 22
    assert lines[-2] == "belljar validate: note: further notes not shown: 980"
    assert belljar("validate", ".", "-q", cwd=tmp_path).stderr == ""


# --- baseline -----------------------------------------------------------------------------------


def test_a_baseline_lets_known_findings_pass(belljar, folder):
    done = belljar("validate", ".", "--write-baseline", "known.json", cwd=folder)
    assert (done.code, done.stdout) == (0, "")
    first = (folder / "known.json").read_text()
    assert 'findings in "known.json": 6' in done.stderr
    done = belljar("validate", ".", "--baseline", "known.json", cwd=folder)
    assert (done.code, done.stdout) == (0, "")
    assert done.stderr == "no findings in 2 files; 6 suppressed\n"

    # Moved and indented; and one more of the same kind, which nobody has accepted.
    moved = (
        "# new\n\nif True:\n\timport   glob\nopen('x')\n[].__class__.__getnewargs__()\nopen('x')\n"
    )
    (folder / "a.py").write_text(moved)
    done = belljar("validate", ".", "--baseline", "known.json", cwd=folder)
    assert (done.code, done.stdout.splitlines()[0][:17]) == (1, "a.py:7:1: BJ501 '")
    assert rules(done) == ["BJ501"]

    (folder / "a.py").write_text("open('x')\n")
    done = belljar("validate", "a.py", "--baseline", "known.json", cwd=folder)
    assert done.code == 0
    assert "stale findings in the baseline: 2;" in done.stderr
    (folder / "a.py").write_text(CODE)
    belljar("validate", "tests", "a.py", "--write-baseline", "known.json", cwd=folder)
    assert (folder / "known.json").read_text() == first


def test_a_baseline_is_of_the_project_and_not_of_where_it_is_asked(belljar, folder):
    (folder / "belljar.toml").write_text('[validate]\nbaseline = "known.json"\n')
    belljar("validate", ".", "--write-baseline", "known.json", cwd=folder)
    assert belljar("validate", ".", cwd=folder / "tests").code == 0
    done = belljar("validate", str(folder), cwd="/", stdin=b"")
    assert done.code == 1  # another project: this one's configuration is not above it
    # Neither another file nor another rule is known by it.
    (folder / "c.py").write_text(CODE)
    assert belljar("validate", ".", "-q", cwd=folder).stdout.startswith("c.py:1:1: BJ201")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot be parsed as JSON"),
        ("{", "cannot be parsed as JSON"),
        ("[]", 'not an object with "version": 1'),
        ('{"version": 2, "findings": []}', 'not an object with "version": 1'),
        ('{"version": 1}', 'no list "findings"'),
        ('{"version": 1, "findings": [3]}', "finding 1 of the list is not an object"),
        ('{"version": 1, "findings": [{"path": "a.py"}]}', "lacks one of the strings"),
        (
            '{"version": 1, "findings": [{"path": "a", "rule": "BJ201", "fingerprint": "x"}]}',
            "is not 32 hexadecimal digits",
        ),
        ("[" * 100_000, "cannot be parsed as JSON"),
    ],
)
def test_a_malformed_baseline_is_said(belljar, folder, text, words):
    (folder / "known.json").write_text(text)
    done = belljar("validate", ".", "--baseline", "known.json", cwd=folder)
    assert (done.code, done.stdout) == (2, "")
    assert words in done.stderr
    assert "--write-baseline" in done.stderr


# --- the report ---------------------------------------------------------------------------------


def test_the_report_goes_to_a_file(belljar, folder):
    (folder / "report.json").write_text("old")
    done = belljar("validate", ".", "--format", "json", "--output", "report.json", cwd=folder)
    assert (done.code, done.stdout) == (1, "")
    report = json.loads((folder / "report.json").read_text())
    assert report["summary"]["findings"] == 6
    prints = {f["fingerprint"] for file in report["files"] for f in file["findings"]}
    assert len(prints) == 6
    done = belljar("validate", ".", "--output", "/dev/stdout", cwd=folder)
    assert len(rules(done)) == 6
    # What did not get to its end leaves the file as it was, and nothing beside it.
    before = sorted(os.listdir(folder))
    done = belljar("validate", ".", "--output", "report.json", "--baseline", "x", cwd=folder)
    assert done.code == 2
    assert sorted(os.listdir(folder)) == before
    assert json.loads((folder / "report.json").read_text()) == report


def test_a_full_disk(belljar, folder):
    done = belljar("validate", ".", "--output", "/dev/full", cwd=folder)
    assert done.code == 5
    assert 'write "/dev/full": No space left on device' in done.stderr


def test_exit_zero_forgives_findings_alone(belljar, folder):
    assert belljar("validate", ".", "--exit-zero", cwd=folder).code == 0
    assert belljar("validate", "a.py", "nowhere.py", "--exit-zero", cwd=folder).code == 2


def test_quiet_and_statistics(belljar, folder):
    done = belljar("validate", ".", "-q", cwd=folder)
    assert (done.code, len(rules(done)), done.stderr) == (1, 6, "")
    done = belljar("validate", ".", "--statistics", "-q", "--ignore", "BJ2", cwd=folder)
    assert [line.split()[:2] for line in done.stderr.splitlines()] == [
        ["2", "BJ301"],
        ["2", "BJ501"],
    ]


def test_any_number_of_jobs_gives_the_same_report(belljar, tmp_path):
    for number in range(40):
        slow = "x = [" + "1, " * (20_000 if number % 7 == 0 else 1) + "]\n"
        (tmp_path / f"{number:02}.py").write_text(slow + "import glob\n" * (number % 3))
    reports = {
        belljar("validate", ".", "--format", "json", "--jobs", jobs, cwd=tmp_path).out
        for jobs in ("1", "2", "7")
    }
    assert len(reports) == 1
    paths = [file["path"] for file in json.loads(reports.pop())["files"]]
    assert paths == sorted(paths)


def test_progress_is_for_terminals(program, tmp_path):
    os.mkfifo(tmp_path / "slow.py")
    names = [f"{number}.py" for number in range(50)]
    for name in names:
        (tmp_path / name).write_text("import glob\n")
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [program, "validate", "slow.py", *names],
        cwd=tmp_path,
        stderr=terminal,
        stdout=subprocess.DEVNULL,
    ) as process:
        os.close(terminal)
        time.sleep(1.2)  # sleeps: so long nothing is shown, and then once
        (tmp_path / "slow.py").write_text("")
        text = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:  # EIO: the other side is closed
                break
            if not part:
                break
            text += part
        process.wait(timeout=30)
    os.close(controller)
    assert b"\rchecked 1 of 51 files\x1b[K\r\x1b[K" in text
    assert text.endswith(b"50 findings in 50 of 51 files\r\n")


def children_of(pid: int) -> list[int]:
    done = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in done.stdout.split()]


def test_ctrl_c_leaves_nothing_behind(program, tmp_path):
    for number in range(2000):
        (tmp_path / f"{number}.py").write_text("x = [" + "(1, 2), " * 2000 + "]\n")
    with subprocess.Popen(
        [program, "validate", ".", "--output", "report"], cwd=tmp_path, stderr=subprocess.PIPE
    ) as process:
        until(lambda: len(children_of(process.pid)) >= 2)
        children = children_of(process.pid)  # zygote and workers
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130
    assert not any(os.path.exists(f"/proc/{child}/root") for child in children)
    assert not [name for name in os.listdir(tmp_path) if name.startswith("report")]


def test_a_reader_that_goes_away(program, tmp_path):
    for number in range(200):
        (tmp_path / f"{number}.py").write_text("import glob\n" * 50)
    with subprocess.Popen(
        [program, "validate", "."], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=60) == 141
