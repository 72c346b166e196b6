"""belljar validate: findings for people and for programs."""

import json
import subprocess

import pytest


@pytest.fixture
def files(tmp_path):
    (tmp_path / "good.py").write_text("import math\nprint(math.pi)\n")
    (tmp_path / "bad.py").write_text("import glob\n\nopen('x')\nprint('never run')\n")
    (tmp_path / "syntax.py").write_text("x = (\n")
    return tmp_path


def test_a_good_file(belljar, files):
    done = belljar("validate", "good.py", cwd=files)
    assert (done.code, done.stdout, done.stderr) == (0, "", "no findings in 1 file\n")


def test_findings_as_text(belljar, files):
    done = belljar("validate", "bad.py", "good.py", "syntax.py", cwd=files)
    assert done.code == 1
    places = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert places[0].startswith("bad.py:1:1: BJ201 ")
    assert places[1].startswith("bad.py:3:1: BJ")
    assert places[2].startswith("syntax.py:1:5: BJ001 ")
    assert len(places) == 3
    assert done.stderr == "3 findings in 2 of 3 files\n"


def test_findings_as_json(belljar, files):
    done = belljar("validate", "--format", "json", "bad.py", "good.py", cwd=files)
    assert (done.code, done.stderr) == (1, "")
    report = json.loads(done.stdout)
    assert list(report) == ["files", "summary"]
    bad, good = report["files"]
    assert list(bad) == ["path", "valid", "findings", "suppressed", "truncated", "error"]
    assert (bad["path"], bad["valid"], len(bad["findings"])) == ("bad.py", False, 2)
    assert bad["findings"][0]["rule"] == "BJ201"
    assert bad["findings"][0]["line"] == 1
    assert (good["valid"], good["findings"], good["error"]) == (True, [], None)
    assert report["summary"] == {
        "files": 2,
        "files_with_findings": 1,
        "findings": 2,
        "suppressed": 0,
        "not_checked": 0,
    }


@pytest.mark.parametrize("arguments", [["-"], []], ids=["dash", "piped"])
def test_standard_input(belljar, arguments):
    done = belljar("validate", *arguments, stdin=b"import glob")
    assert done.code == 1
    assert done.stdout.startswith("<stdin>:1:1: BJ201 ")
    assert done.stderr == "1 finding in 1 of 1 file\n"


@pytest.mark.parametrize("redirection", ["</dev/null", "<&-"])
def test_a_pipeline_that_names_no_file_does_not_pass(program, redirection):
    done = subprocess.run(
        ["sh", "-c", f'"$0" validate {redirection}', program], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "which files?" in done.stderr


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "(" * 300 + ")" * 300,
        "".join(" " * i + "for i in x:\n" for i in range(30)) + " " * 30 + "pass\n",
        "".join(" " * i + "if x:\n" for i in range(150)) + " " * 150 + "pass\n",
    ],
    ids=["brackets", "loops", "indentation"],
)
def test_what_is_nested_too_deeply_is_no_error_of_syntax(belljar, source):
    done = belljar("validate", "-", stdin=source.encode())
    assert done.code == 1 and " BJ002 " in done.stdout, done.stdout


def test_a_file_that_cannot_be_read_does_not_stop_the_others(belljar, files):
    done = belljar("validate", "nowhere.py", "bad.py", "/proc/self/mem", cwd=files)
    assert done.code == 2
    assert done.stdout.startswith("bad.py:1:1: BJ201 ")
    assert done.stderr == (
        'belljar validate: open "nowhere.py": No such file or directory (ENOENT)\n'
        'belljar validate: read "/proc/self/mem": Input/output error (EIO)\n'
        "2 findings in 1 of 3 files; 2 files could not be checked\n"
    )
    report = json.loads(belljar("validate", "--format", "json", "nowhere.py", cwd=files).stdout)
    assert report["files"][0] == {
        "path": "nowhere.py",
        "valid": False,
        "findings": [],
        "suppressed": 0,
        "truncated": False,
        "error": 'open "nowhere.py": No such file or directory (ENOENT)',
    }


def test_nothing_is_run(belljar):
    done = belljar("validate", "-", stdin=b"while True: pass")
    assert (done.code, done.stdout) == (0, "")


def test_many_files(belljar, tmp_path):
    for number in range(60):
        (tmp_path / f"{number}.py").write_text("import glob\n" * (number % 2))
    names = [f"{number}.py" for number in range(60)]
    done = belljar("validate", *names, cwd=tmp_path)
    assert done.code == 1
    assert done.stderr == "30 findings in 30 of 60 files\n"


def test_unknown_format_and_profile(belljar):
    done = belljar("validate", "--format", "jsn", "-")
    assert done.code == 2
    assert 'did you mean "json"?' in done.stderr
    assert belljar("validate", "--profile", "basci", "-").code == 2
