import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "tools/sum_tests.py"

REPORT = """<testsuite>
<testcase name="a"/><testcase name="b"/>
<testcase name="c"><skipped message="no"/></testcase>
{more}
</testsuite>"""


def close(tmp_path: Path, *more: str, status: int = 0) -> tuple[str, int]:
    reports = []
    for number, text in enumerate(more):
        report = tmp_path / f"{number}.xml"
        report.write_text(REPORT.format(more=text))
        reports.append(str(report))
    done = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), "--status", str(status), *reports],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.splitlines()[-1], done.returncode


def test_reports_are_summed(tmp_path):
    assert close(tmp_path, "", "") == ("4 passed, 0 failed, 2 skipped", 0)


def test_failures_and_errors_fail(tmp_path):
    failure = '<testcase name="d"><failure/></testcase>'
    error = '<testcase name="e"><error/></testcase>'
    assert close(tmp_path, failure, error, status=1) == ("4 passed, 2 failed, 2 skipped", 1)


def test_a_runner_that_died_is_a_failure(tmp_path):
    assert close(tmp_path, "", status=1) == ("2 passed, 1 failed, 1 skipped", 1)


def test_nothing_run_is_a_failure(tmp_path):
    assert close(tmp_path) == ("0 passed, 1 failed, 0 skipped", 1)


PROGRAMS = """<testsuite>
<testcase name="good_test"/>
<testcase name="bad_test"><failure/></testcase>
<testcase name="crashed_test"><failure/></testcase>
<testcase name="leaking_test"><failure/></testcase>
</testsuite>"""
TWO = '<testcase name="a" status="run"/><testcase name="b" status="run">{}</testcase>'


def test_of_a_program_its_own_tests_count(tmp_path):
    """And a program that failed counts as one where none of its tests did."""
    (tmp_path / "ctest-release.xml").write_text(PROGRAMS)
    own = tmp_path / "gtest-release"
    own.mkdir()
    skipped = '<testcase name="c" status="run"><skipped message="no"/></testcase>'
    unasked = '<testcase name="d" status="notrun"/>'
    (own / "good_test.xml").write_text(
        f"<testsuites><testsuite>{TWO.format('')}{skipped}{unasked}</testsuite></testsuites>"
    )
    (own / "bad_test.xml").write_text(f"<testsuites>{TWO.format('<failure/>')}</testsuites>")
    (own / "crashed_test.xml").write_text("<testsuites><testsuite>")
    (own / "leaking_test.xml").write_text(f"<testsuites>{TWO.format('')}</testsuites>")
    done = subprocess.run(
        [sys.executable, "-I", SCRIPT, "--status", "1", tmp_path / "ctest-release.xml"],
        capture_output=True,
        text=True,
        check=False,
    )
    # good: 2 and one skipped; bad: 1 and 1; crashed: 1 failed; leaking: 2, and 1 failed.
    assert done.stdout.splitlines() == [
        "failed: ctest-release: b",
        "failed: ctest-release: crashed_test",
        "failed: ctest-release: leaking_test",
        "5 passed, 3 failed, 1 skipped",
    ]
    assert done.returncode == 1


def test_what_failed_is_named_with_what_its_runner_says(tmp_path):
    failure = (
        '<testcase classname="tests.x" name="d"><failure message="assert 1\n == 2"/></testcase>'
    )
    (tmp_path / "pytest.xml").write_text(REPORT.format(more=failure))
    done = subprocess.run(
        [sys.executable, "-I", SCRIPT, "--status", "1", tmp_path / "pytest.xml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[0] == "failed: pytest: tests.x::d: assert 1 == 2"
