"""A generated page of docs/: written with --write, otherwise checked."""

from __future__ import annotations

import sys
from pathlib import Path


def write_or_compare(page: Path, wanted: str) -> int:
    """Returns the exit code of a tool that generates a page; reads the command line."""
    if sys.argv[1:] == ["--write"]:
        page.write_text(wanted, encoding="utf-8")
        return 0
    if page.is_file() and page.read_text(encoding="utf-8") == wanted:
        return 0
    tool = Path(sys.argv[0]).name
    print(f"docs/{page.name} is out of date: run python3 tools/{tool} --write", file=sys.stderr)
    return 1
