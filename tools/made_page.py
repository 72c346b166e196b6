"""A page of docs/ that is made: written with --write, else compared with what it should be."""

from __future__ import annotations

import sys
from pathlib import Path


def write_or_compare(page: Path, wanted: str) -> int:
    """The exit code of a tool that makes a page; it reads the command line."""
    if sys.argv[1:] == ["--write"]:
        page.write_text(wanted, encoding="utf-8")
        return 0
    if page.is_file() and page.read_text(encoding="utf-8") == wanted:
        return 0
    tool = Path(sys.argv[0]).name
    print(f"docs/{page.name} is behind: python3 tools/{tool} --write", file=sys.stderr)
    return 1
