#!/usr/bin/env python3
"""Run clang-tidy on C++ that changed since a revision; only findings on changed lines count.

    tools/tidy_changed.py [BASE] [--build TREE] [--jobs N] [--minutes N]

Default for BASE: change.default_base(). A header is checked through the source file of the same
name. TREE is a build tree configured source by source (`cmake --preset tidy`); it need not be
compiled. Files with the most changes are checked first; files skipped for lack of time are listed,
which is not a failure.
Exit: 0 no findings (or nothing to check), 1 findings, 2 it cannot run.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from change import ROOT, default_base, git  # noqa: E402

SOURCES = (".cc", ".c")
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def say(text: str) -> None:
    print(f"tidy: {text}", flush=True)


def changed(base: str) -> dict[str, int]:
    """Return each C or C++ file that changed since `base`, with its number of changed lines."""
    found: dict[str, int] = {}
    diff = git("diff", "--numstat", "--no-renames", "--diff-filter=d", "-z", base, "--") or ""
    for entry in diff.split("\0"):
        added, _, rest = entry.partition("\t")
        removed, _, path = rest.partition("\t")
        if added.isdigit() and path.endswith((".h", *SOURCES)):
            found[path] = int(added) + int(removed)
    return found


def line_filter(base: str) -> str:
    """Return clang-tidy's --line-filter: the lines added since `base`, by file."""
    lines: dict[str, list[list[int]]] = {}
    path = ""
    for line in (git("diff", "-U0", "--no-color", "--diff-filter=d", base, "--") or "").split("\n"):
        if line.startswith("+++ "):
            path = line.removeprefix("+++ ").removeprefix("b/")
        elif (match := HUNK.match(line)) and path.endswith((".h", *SOURCES)):
            first, count = int(match[1]), int(match[2] or 1)
            if count:
                lines.setdefault(path, []).append([first, first + count - 1])
    return json.dumps([{"name": name, "lines": ranges} for name, ranges in lines.items()])


def sources_of(files: dict[str, int], compiled: set[str]) -> list[str]:
    """Return the sources to check, most changed first; for headers, those of the same name."""
    lines: dict[str, int] = {}
    for path, count in files.items():
        for source in (path, *(str(Path(path).with_suffix(ending)) for ending in SOURCES)):
            if source in compiled:
                lines[source] = lines.get(source, 0) + count
                break
    return sorted(lines, key=lambda source: (-lines[source], source))


def compiled_in(tree: Path) -> set[str] | None:
    try:
        commands = json.loads((tree / "compile_commands.json").read_text())
    except OSError:
        return None
    root = str(ROOT) + "/"
    return {entry["file"].removeprefix(root) for entry in commands}


def read(source: str, tree: Path, until: float, lines: str) -> tuple[str, int | None, str]:
    """Return clang-tidy's status (None: out of time) and its output."""
    left = until - time.monotonic()
    if left <= 0:
        return source, None, ""
    filtered = [f"--line-filter={lines}"] if lines else []
    try:
        done = subprocess.run(
            ["clang-tidy", "--quiet", "--warnings-as-errors=*", *filtered, "-p", str(tree), source],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=left,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return source, None, ""
    # For a clean file this is only "4711 warnings generated." for third-party headers.
    return source, done.returncode, done.stdout + (done.stderr if done.returncode else "")


def read_all(sources: list[str], tree: Path, jobs: int, minutes: float, lines: str = "") -> int:
    """Return 1 if there are findings; `lines` restricts them (line_filter)."""
    until = time.monotonic() + minutes * 60
    failed, left_out = [], []
    with ThreadPoolExecutor(jobs) as pool:
        for source, status, text in pool.map(lambda one: read(one, tree, until, lines), sources):
            if status is None:
                left_out.append(source)
            elif status != 0:
                failed.append(source)
                print(text, flush=True)
    if left_out:
        say(f"no time for {len(left_out)} of {len(sources)}: {' '.join(left_out)}")
    say(f"checked {len(sources) - len(left_out)} files, findings in {len(failed)}")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("base", nargs="?", help="the revision to compare with")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "tidy")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=4)
    options = parser.parse_args()

    base = options.base or default_base()
    if base is None:
        say("it is not known what changed: name a revision to compare with")
        return 0
    if git("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}") is None:
        say(f"revision {base} does not exist here")
        return 2
    files = changed(base)
    if not files:
        say(f"no C++ changed since {base[:12]}")
        return 0
    compiled = compiled_in(options.build)
    if compiled is None:
        say(f"{options.build} is not configured: cmake --preset tidy")
        return 2
    sources = sources_of(files, compiled)
    if not sources:
        say(f"{len(files)} files changed since {base[:12]}, none of them in this build")
        return 0
    lines = line_filter(base)
    return read_all(sources, options.build, options.jobs, options.minutes, lines)


if __name__ == "__main__":
    sys.exit(main())
