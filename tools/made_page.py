"""Generated pages in docs/: written with --write, otherwise compared with the expected text."""

from __future__ import annotations

import sys
from pathlib import Path


def write_or_compare(page: Path, wanted: str) -> int:
    """Writes or compares `page`, depending on the command line; returns the exit code."""
    if sys.argv[1:] == ["--write"]:
        page.write_text(wanted, encoding="utf-8")
        return 0
    if page.is_file() and page.read_text(encoding="utf-8") == wanted:
        return 0
    tool = Path(sys.argv[0]).name
    print(f"docs/{page.name} is out of date: python3 tools/{tool} --write", file=sys.stderr)
    return 1
