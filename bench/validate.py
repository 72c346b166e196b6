"""Lines per second of `belljar validate`, alternating with bandit on the same tree.

    validate.py BELLJAR [--tree FOLDER] [--rounds N] [--json]

Without --tree: the standard library of this Python, without its tests, copied to a temporary folder
so that both read the same warm files.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

GOAL = 50_000  # lines per second on two cores
LEFT_OUT = shutil.ignore_patterns("test", "tests", "idle_test", "site-packages", "dist-packages",
                                  "__pycache__", "lib-dynload", "config-*", "lib2to3")  # fmt: skip


def copy_of_stdlib(folder: Path) -> Path:
    tree = folder / "tree"
    shutil.copytree(sysconfig.get_path("stdlib"), tree, ignore=LEFT_OUT)
    for path in list(tree.rglob("*")):
        if path.is_file() and path.suffix != ".py":
            path.unlink()
    return tree


def size(tree: Path) -> tuple[int, int]:
    """Files and lines."""
    files = sorted(tree.rglob("*.py"))
    return len(files), sum(path.read_bytes().count(b"\n") for path in files)


def seconds(command: list[str], accepted: set[int]) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    elapsed = time.perf_counter() - start
    if done.returncode not in accepted:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stderr.decode()[-2000:]}")
    return elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("belljar", type=Path)
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tree = options.tree or copy_of_stdlib(Path(scratch))
        report = Path(scratch) / "report"
        ours = [str(options.belljar), "validate", "--isolated", "--no-ignore", "--format", "json",
                "--output", str(report), str(tree)]  # fmt: skip
        bandit = [sys.executable, "-I", "-m", "bandit", "-q", "-r", "-f", "json", "-o",
                  str(report), str(tree)]  # fmt: skip
        times: dict[str, list[float]] = {"belljar validate": [], "bandit -r": []}
        for _ in range(options.rounds):
            times["belljar validate"].append(seconds(ours, {0, 1}))
            times["bandit -r"].append(seconds(bandit, {0, 1}))
        files, lines = size(tree)
    figures = {
        name: {
            "seconds": statistics.median(samples),
            "lines_per_second": lines / statistics.median(samples),
        }
        for name, samples in times.items()
    }
    if options.json:
        print(json.dumps({"files": files, "lines": lines, "cores": os.cpu_count(), **figures}))
        return
    print(f"{files:,} files, {lines:,} lines, {os.cpu_count()} cores, {options.rounds} rounds\n")
    for name, figure in figures.items():
        print(f"{name:20} {figure['seconds']:8.2f} s {figure['lines_per_second']:12,.0f} lines/s")
    speed = figures["belljar validate"]["lines_per_second"]
    times_bandit = figures["bandit -r"]["seconds"] / figures["belljar validate"]["seconds"]
    reached = "reached" if speed >= GOAL and times_bandit > 1 else "NOT REACHED"
    print(f"\n{times_bandit:.1f} times bandit's speed; goal >= {GOAL:,} lines/s: {reached}")


if __name__ == "__main__":
    main()
