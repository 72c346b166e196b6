"""Print the totals of a test run, `N passed, N failed, N skipped`, from JUnit reports. Each
failed test is named first, so that the end of a long log says what to look for.

So are tests that passed only when they were repeated (tools/repeat_failed.py), and those that
failed in quarantine.

The exit codes of the runners count too: a crash that no report mentions is a failure, and so is a
run without tests. For ctest a file of tests is one test; the individual tests are counted from the
files' own reports, gtest-PRESET/NAME.xml next to ctest-PRESET.xml.
"""

import argparse
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MAX_NAMED = 40
MAX_MESSAGE = 300
QUARANTINED = "in quarantine: "


@dataclass
class Totals:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    named: list[str] = field(default_factory=list)
    unstable: list[str] = field(default_factory=list)

    def add(self, report: Path, case: ElementTree.Element) -> None:
        if is_bad(case):
            self.failed += 1
            self.named.append(f"{report.stem}: {name_of(case)}{message_of(case)}")
            return
        if case.find("flakyFailure") is not None:
            self.unstable.append(f"unstable: {report.stem}: {name_of(case)}")
        if message_of(case, "skipped").startswith(f": {QUARANTINED}"):
            name = f"{report.stem}: {name_of(case)}{message_of(case, 'skipped')}"
            self.unstable.append(f"quarantined: {name}")
        if case.find("skipped") is not None:
            self.skipped += 1
        else:
            self.passed += 1


def is_bad(case: ElementTree.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def name_of(case: ElementTree.Element) -> str:
    return "::".join(filter(None, (case.get("classname"), case.get("name"))))


def message_of(case: ElementTree.Element, *kinds: str) -> str:
    """What the runner says of the failure, in one line."""
    for kind in kinds or ("failure", "error"):
        found = case.find(kind)
        if found is not None:
            text = " ".join((found.get("message") or found.text or "").split())
            return f": {text[:MAX_MESSAGE]}" if text else ""
    return ""


def cases(report: Path) -> Iterator[ElementTree.Element]:
    programs = report.with_name(report.stem.replace("ctest-", "gtest-", 1))
    for case in ElementTree.parse(report).iter("testcase"):
        own = programs / f"{case.get('name')}.xml"
        inner = [] if programs == report.with_suffix("") else inner_cases(own)
        yield from inner
        # A program may fail although its tests pass: it crashed, or a sanitizer reported an error.
        if not inner or (is_bad(case) and not any(map(is_bad, inner))):
            yield case


def inner_cases(report: Path) -> list[ElementTree.Element]:
    try:
        found = ElementTree.parse(report).iter("testcase")
    except (OSError, ElementTree.ParseError):  # the report is missing or incomplete
        return []
    return [case for case in found if case.get("status") != "notrun"]


def total(reports: list[Path]) -> Totals:
    totals = Totals()
    for report in reports:
        for case in cases(report):
            totals.add(report, case)
    return totals


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--status", type=int, required=True, help="0 if every runner exited 0")
    parser.add_argument("reports", type=Path, nargs="*")
    options = parser.parse_args()
    totals = total([report for report in options.reports if report.is_file()])
    if options.status != 0 and totals.failed == 0:
        print("a test runner failed without naming a test; counted as one failure")
        totals.failed = 1
    if totals.passed + totals.failed == 0:
        print("no test ran")
        totals.failed = 1
    for name in totals.unstable:
        print(name)
    for name in totals.named[:MAX_NAMED]:
        print(f"failed: {name}")
    if len(totals.named) > MAX_NAMED:
        print(f"failed: and {len(totals.named) - MAX_NAMED} more")
    print(f"{totals.passed} passed, {totals.failed} failed, {totals.skipped} skipped")
    return 1 if totals.failed else 0


if __name__ == "__main__":
    sys.exit(main())
