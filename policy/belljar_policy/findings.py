"""Findings of the policy about source, as plain values."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_END_OF_LINE = re.compile(r"\r\n|\r|\n")  # those of Python's tokenizer; str.splitlines has more


class Finding(NamedTuple):
    """One refused construct. Lines and columns count from 1; 0 means the whole source.

    Columns count characters (code points), and `end_column` is one past the last of them.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    rule: str
    name: str
    reason: str
    hint: str
    profile: str | None = None
    """Another profile that allows it, if any."""

    def as_dict(self) -> dict[str, Any]:
        """The form used in messages and SARIF."""
        return {
            "rule": self.rule,
            "name": self.name,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
            "reason": self.reason,
            "hint": self.hint,
            "profile": self.profile or "",
        }

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.rule} {self.reason}. {self.hint}"


def in_characters(findings: list[Finding], source: str) -> list[Finding]:
    """The same findings with columns in characters; a syntax tree has them in bytes of UTF-8.

    Editors, SARIF's `unicodeCodePoints` and SyntaxError count characters.
    """
    if not findings or source.isascii():
        return findings
    lines = [line.encode("utf-8", "surrogatepass") for line in _END_OF_LINE.split(source)]

    def character(line: int, column: int) -> int:
        if not 0 < line <= len(lines) or column < 1:
            return column
        return len(lines[line - 1][: column - 1].decode("utf-8", "replace")) + 1

    return [
        finding._replace(
            column=character(finding.line, finding.column),
            end_column=character(finding.end_line, finding.end_column),
        )
        for finding in findings
    ]
