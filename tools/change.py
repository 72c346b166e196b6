#!/usr/bin/env python3
"""Print what CI runs for a change, one word per line, according to the files that it touches.

    tools/change.py [BASE]
    tools/change.py --left-out tests|programs WORD…

`tests/landing.toml` is the table. Words: `docs` alone, if only pages changed; otherwise `tests` and
the extras of the files. Everything is needed where that changed which all depend on, and where
it is not known what changed. Default for BASE: default_base().
--left-out prints the Python tests, or the C++ test programs, that only other words need.
"""

import argparse
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TRUNKS = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


def git(*arguments: str) -> str | None:
    """Return git's output, or None if it fails."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",  # a diff has the bytes of any file
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else None


def is_before_head(commit: str | None) -> bool:
    return bool(commit) and git("merge-base", "--is-ancestor", str(commit), "HEAD") is not None


def default_base() -> str | None:
    """Return the newest commit that passed and that HEAD was made from.

    On a branch, this is where it left the trunk; on the trunk, the commit in .ci/passed, which is
    updated when a change lands. None: unknown.
    """
    head = git("rev-parse", "HEAD")
    for trunk in TRUNKS:
        base = git("merge-base", "HEAD", trunk)
        if base and base != head:
            return base
    try:
        passed = (ROOT / ".ci/passed").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return passed if is_before_head(passed) else None


def files_since(base: str) -> list[str] | None:
    """Return the files that differ from `base` in HEAD, including deleted ones; None: unknown."""
    found = git("diff", "--name-only", "--no-renames", "-z", base, "HEAD", "--")
    return None if found is None else [name for name in found.split("\0") if name]


def matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def read_table() -> dict[str, Any]:
    return tomllib.loads((ROOT / "tests/landing.toml").read_text(encoding="utf-8"))


def needed(files: list[str] | None, table: dict[str, Any]) -> list[str]:
    extras = table["extras"]
    if files is None or any(matches(name, table["everything"]) for name in files):
        return ["tests", *extras]
    if files and all(matches(name, table["docs"]) for name in files):
        return ["docs"]
    touched = [w for w, each in extras.items() if any(matches(n, each["files"]) for n in files)]
    return ["tests", *touched]


def left_out(kind: str, words: list[str], table: dict[str, Any]) -> list[str]:
    extras = table["extras"].items()
    kept = {name for word, each in extras if word in words for name in each.get(kind, ())}
    rest = [name for word, each in extras if word not in words for name in each.get(kind, ())]
    return [name for name in dict.fromkeys(rest) if name not in kept]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("base", nargs="?", help="the revision to compare with")
    parser.add_argument("--left-out", nargs="+", metavar=("tests|programs", "WORD"))
    options = parser.parse_args()
    table = read_table()
    if options.left_out:
        kind, *words = options.left_out
        print("\n".join(left_out(kind, words, table)))
        return 0
    base = options.base or default_base()
    words = needed(files_since(base) if base else None, table)
    print(f"change: since {base[:12] if base else '?'}: {' '.join(words)}", file=sys.stderr)
    print("\n".join(words))
    return 0


if __name__ == "__main__":
    sys.exit(main())
