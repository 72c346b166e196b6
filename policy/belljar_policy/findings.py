"""What the policy has to say about a piece of source: a plain value, one per place."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One refused construct. Lines and columns count from 1; 0 means the whole source."""

    line: int
    column: int
    end_line: int
    end_column: int
    rule: str
    name: str
    reason: str
    hint: str
    profile: str | None = None
    """For an import: the profile that would allow it."""

    def as_dict(self) -> dict[str, Any]:
        """The form that goes over the wire and into SARIF."""
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
