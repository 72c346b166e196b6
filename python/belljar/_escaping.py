"""Text of programs as terminals, notebooks and error messages may show it."""

from __future__ import annotations

_MAX_TEXT = 100_000  # characters

# All control characters except newline and tab, and the characters that change text direction.
_CONTROL_CHARACTERS = {
    number: f"\\x{number:02x}" for number in (*range(9), *range(11, 32), *range(127, 160))
} | {number: f"\\u{number:04x}" for number in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def escaped(text: str) -> str:
    """Escapes the characters that a terminal would interpret."""
    return text.translate(_CONTROL_CHARACTERS)


def bounded(text: str) -> str:
    """Like `escaped`, with a maximum length."""
    cut = text[:_MAX_TEXT]
    rest = "" if len(text) <= _MAX_TEXT else f"\n… {len(text) - _MAX_TEXT:,} characters more"
    return escaped(cut) + rest
