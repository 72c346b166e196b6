#!/usr/bin/env python3
"""Print what CI runs for a change, one word per line, according to the files that it touches.

    tools/change.py [BASE]

`tests/landing.toml` is the table: `everything`, `docs` and the extras. Words: only `docs`, if only
pages changed; otherwise `tests` and the extras of the files. Everything runs if the table or the
build changed, or if it is unknown what changed.
Default for BASE: default_base().
"""

import argparse
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

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


def needed(files: list[str] | None, table: dict[str, list[str]]) -> list[str]:
    extras = {word: files for word, files in table.items() if word not in ("everything", "docs")}
    if files is None or any(matches(name, table["everything"]) for name in files):
        return ["tests", *extras]
    if files and all(matches(name, table["docs"]) for name in files):
        return ["docs"]
    touched = [word for word, paths in extras.items() if any(matches(n, paths) for n in files)]
    return ["tests", *touched]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("base", nargs="?", help="the revision to compare with")
    base = parser.parse_args().base or default_base()
    table = tomllib.loads((ROOT / "tests/landing.toml").read_text(encoding="utf-8"))
    words = needed(files_since(base) if base else None, table)
    print(f"change: since {base[:12] if base else '?'}: {' '.join(words)}", file=sys.stderr)
    print("\n".join(words))
    return 0


if __name__ == "__main__":
    sys.exit(main())
