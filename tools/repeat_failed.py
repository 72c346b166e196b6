"""Repeat each failed GoogleTest test alone, once, and note the result in the reports of ctest.

In CI, after a ctest run: a test that fails with its file and passes alone is unstable, which
tools/sum_tests.py names; one that fails again has failed, unless it is in tests/quarantine.toml. A
file whose process crashed, hung or was reported by a sanitizer has failed, whatever its tests say.
Not for tests of attacks.

The exit code is 0 if no failure is left.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

QUARANTINE = Path(__file__).resolve().parents[1] / "tests/quarantine.toml"
TIMEOUT = 300


def quarantined(today: datetime.date) -> dict[str, str]:
    """Name -> cause, for those whose time is not over."""
    entries = tomllib.loads(QUARANTINE.read_text(encoding="utf-8")).get("test", [])
    return {each["name"]: each["cause"] for each in entries if each["until"] >= today}


def programs_of(tree: Path) -> dict[str, Path]:
    """Name of a ctest test -> its program."""
    command = ["ctest", "--test-dir", tree, "--show-only=json-v1"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    tests = json.loads(done.stdout)["tests"]
    return {each["name"]: Path(each["command"][0]) for each in tests if "command" in each}


def name_of(case: ElementTree.Element) -> str:
    return f"{case.get('classname')}.{case.get('name')}"


def passes_alone(program: Path, name: str) -> bool:
    environment = {key: os.environ[key] for key in os.environ if key != "GTEST_OUTPUT"}
    command = [program, f"--gtest_filter={name}"]
    print(f"repeated alone: {program.name} {name}", flush=True)
    try:
        return subprocess.run(command, env=environment, timeout=TIMEOUT).returncode == 0
    except (OSError, subprocess.TimeoutExpired) as error:
        print(error, flush=True)
        return False


def replace_failures(case: ElementTree.Element, tag: str, message: str) -> None:
    for failure in case.findall("failure"):
        case.remove(failure)
    ElementTree.SubElement(case, tag, {"message": message})


def repeat(program: Path, report: Path, known: dict[str, str]) -> bool:
    """Whether no failure is left in the file's own report."""
    try:
        tree = ElementTree.parse(report)
    except (OSError, ElementTree.ParseError):  # it crashed
        return False
    failed = [case for case in tree.iter("testcase") if case.find("failure") is not None]
    left = len(failed)
    for case in failed:
        name = name_of(case)
        if passes_alone(program, name):
            replace_failures(case, "flakyFailure", "failed with its file, passed alone")
        elif name in known:
            replace_failures(case, "skipped", f"in quarantine: {known[name]}")
        else:
            continue
        left -= 1
    tree.write(report)
    return bool(failed) and left == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True, help="the build tree")
    parser.add_argument("report", type=Path, help="ctest-NAME.xml, next to gtest-NAME/")
    options = parser.parse_args()
    known = quarantined(datetime.date.today())
    tree = ElementTree.parse(options.report)
    own = options.report.with_name(options.report.stem.replace("ctest-", "gtest-", 1))
    failed = [case for case in tree.iter("testcase") if case.find("failure") is not None]
    programs = programs_of(options.tree) if failed else {}
    left = 0
    for case in failed:
        name = str(case.get("name"))
        output = case.findtext("system-out") or ""
        if "Sanitizer: " not in output and repeat(programs[name], own / f"{name}.xml", known):
            case.remove(case.findall("failure")[0])
            case.set("status", "run")
        else:
            left += 1
    tree.write(options.report)
    # Without a failed one, ctest itself has failed.
    return 0 if failed and not left else 1


if __name__ == "__main__":
    sys.exit(main())
