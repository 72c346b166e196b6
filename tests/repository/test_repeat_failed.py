"""Failed C++ tests are repeated one by one."""

import datetime
import subprocess
import sys
from pathlib import Path

import pytest
import repeat_failed

SUM = Path(__file__).parents[2] / "tools/sum_tests.py"
# Says what it was asked for, and fails in it where the file of that name says so.
PROGRAM = """#!/bin/sh
echo "$1" >>"$0.asked"
! [ -e "$0.fails-${1#*=*.}" ]
"""
FAILED = '<testcase classname="Suite" name="{}" status="run"><failure message="no"/></testcase>'


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Of a program, the names of those that fail with it, and alone, and its output. Gives what it
    was asked for, the last line of the sum, and all of it."""
    monkeypatch.setattr(repeat_failed, "QUARANTINE", tmp_path / "quarantine.toml")
    (tmp_path / "quarantine.toml").write_text("")

    def inner(together, alone=(), output="", xml=True):
        program = tmp_path / "a_test"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        for name in alone:
            (tmp_path / f"a_test.fails-{name}").touch()
        (tmp_path / "ctest-release.xml").write_text(
            '<testsuite><testcase name="a_test" status="fail"><failure message=""/>'
            f"<system-out>{output}</system-out></testcase></testsuite>"
        )
        own = tmp_path / "gtest-release"
        own.mkdir()
        good = '<testcase classname="Suite" name="Good" status="run"/>'
        if xml:
            cases = "".join(map(FAILED.format, together))
            (own / "a_test.xml").write_text(f"<testsuite>{good}{cases}</testsuite>")
        monkeypatch.setattr(repeat_failed, "programs_of", lambda _: {"a_test": program})
        arguments = ["--tree", str(tmp_path), str(tmp_path / "ctest-release.xml")]
        monkeypatch.setattr(sys, "argv", ["repeat_failed", *arguments])
        status = repeat_failed.main()
        asked = tmp_path / "a_test.asked"
        done = subprocess.run(
            [sys.executable, "-I", SUM, "--status", str(status), tmp_path / "ctest-release.xml"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status
        return asked.read_text().split() if asked.exists() else [], done.stdout.splitlines()

    return inner


def test_what_passes_alone_is_unstable(run):
    asked, said = run(["Late", "Slow"])
    assert asked == ["--gtest_filter=Suite.Late", "--gtest_filter=Suite.Slow"]
    assert said == [
        "unstable: ctest-release: Suite::Late",
        "unstable: ctest-release: Suite::Slow",
        "3 passed, 0 failed, 0 skipped",
    ]


def test_what_fails_again_has_failed(run):
    asked, said = run(["Late", "Bad"], alone=["Bad"])
    assert len(asked) == 2
    assert said[-1] == "2 passed, 1 failed, 0 skipped"
    assert "failed: ctest-release: Suite::Bad: no" in said


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"xml": False}, "it crashed"),
        ({"together": []}, "its tests passed, and it failed"),
        ({"output": "==1==ERROR: LeakSanitizer: detected memory leaks"}, "a sanitizer"),
    ],
)
def test_a_program_that_failed_in_another_way_has_failed(run, arguments, why):
    asked, said = run(**{"together": ["Late"], **arguments})
    assert asked == [], why
    assert " 1 failed" in said[-1], why


def test_a_ctest_that_failed_without_a_test_has_failed(tmp_path, monkeypatch):
    report = tmp_path / "ctest-release.xml"
    report.write_text('<testsuite><testcase name="a_test" status="run"/></testsuite>')
    monkeypatch.setattr(sys, "argv", ["repeat_failed", "--tree", str(tmp_path), str(report)])
    assert repeat_failed.main() == 1


def test_the_program_of_a_file_is_the_one_that_ctest_starts(tmp_path):
    (tmp_path / "CTestTestfile.cmake").write_text('add_test(a_test "/bin/true" "--file=a_test")\n')
    assert repeat_failed.programs_of(tmp_path) == {"a_test": Path("/bin/true")}


@pytest.mark.parametrize("days", [0, -1])
def test_in_quarantine_it_may_fail_until_the_date(run, tmp_path, days):
    until = datetime.date.today() + datetime.timedelta(days)
    (tmp_path / "quarantine.toml").write_text(
        f'[[test]]\nname = "Suite.Bad"\ncause = "a race"\nsince = 2026-11-01\nuntil = {until}\n'
    )
    _, said = run(["Bad"], alone=["Bad"])
    if days < 0:
        assert said[-1] == "1 passed, 1 failed, 0 skipped"
    else:
        assert said == [
            "quarantined: ctest-release: Suite::Bad: in quarantine: a race",
            "1 passed, 0 failed, 1 skipped",
        ]
