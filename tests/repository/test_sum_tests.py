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
