"""Generated pages in docs/: written with --write, otherwise compared with the expected text."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path


def row(*cells: object) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells).rstrip() + " |"


def table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    return "\n".join([row(*head), "|---" * len(head) + "|", *(row(*each) for each in rows)])


def write_or_compare(page: Path, wanted: str) -> int:
    """Writes or compares `page`, depending on the command line; returns the exit code."""
    if "--write" in sys.argv[1:]:
        page.write_text(wanted, encoding="utf-8")
        return 0
    if page.is_file() and page.read_text(encoding="utf-8") == wanted:
        return 0
    command = " ".join([f"python3 tools/{Path(sys.argv[0]).name}", *sys.argv[1:], "--write"])
    print(f"docs/{page.name} is out of date: {command}", file=sys.stderr)
    return 1
