"""What processes of a pool import."""

from __future__ import annotations

from belljar import Sandbox


def value_of(box: Sandbox, code: str) -> object:
    return box.run(code).value
