"""Display of results in notebooks.

Output, value and pictures are shown, as text or PNG only. HTML from the program, for instance of a
table, is never passed on, not even in a sandboxed frame: a notebook runs scripts with its reader's
rights, and other programs save, convert and display it, each of which would have to honour the
frame. Tables are shown as text. Control characters are escaped, because terminals show this too.
"""

from __future__ import annotations

import html
from base64 import b64encode
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from belljar._result import Artifact, Result

_PNG = b"\x89PNG\r\n\x1a\n"
_MAX_PICTURES = 20
_MAX_TEXT = 100_000  # characters

# All control characters except newline and tab, and the characters that change text direction.
_HOSTILE = {
    number: f"\\x{number:02x}" for number in (*range(9), *range(11, 32), *range(127, 160))
} | {number: f"\\u{number:04x}" for number in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def spelled_out(text: str) -> str:
    """Escapes the characters that a terminal would interpret."""
    return text.translate(_HOSTILE)


def bounded(text: str) -> str:
    """Like `spelled_out`, with a maximum length."""
    cut = text[:_MAX_TEXT]
    rest = "" if len(text) <= _MAX_TEXT else f"\n… {len(text) - _MAX_TEXT:,} characters more"
    return spelled_out(cut) + rest


def _texts(result: Result) -> list[str]:
    """All text of the result, in display order."""
    texts = [result.stdout, result.stderr]
    if result.error is not None:
        error = result.error
        said = error.traceback or f"{error.type}: {error.message}"
        texts.append(said if error.hint is None else f"{said.rstrip()}\nhint: {error.hint}")
    for finding in result.findings:
        place = f"{finding.line}:{finding.column}: " if finding.line else ""
        texts.append(f"{place}{finding.rule} {finding.reason}")
    texts += [
        each.text or ""
        for each in result.artifacts
        if each.origin == "display" and each.media_type == "text/plain"
    ]
    if result.value_repr is not None:
        texts.append(result.value_repr)
    return [bounded(text.rstrip("\n")) for text in texts if text]


def _pictures(result: Result) -> list[Artifact]:
    pictures = [
        each
        for each in result.artifacts
        if each.media_type == "image/png" and (each.content or b"").startswith(_PNG)
    ]
    return pictures[:_MAX_PICTURES]


def bundle(result: Result) -> dict[str, str]:
    """MIME type -> content, for IPython's display."""
    texts = _texts(result)
    pictures = _pictures(result)
    if not texts and not pictures:
        return {"text/plain": repr(result)}
    shown = [f"<pre>{html.escape(text)}</pre>" for text in texts]
    shown += [
        f'<img src="data:image/png;base64,{b64encode(each.content or b"").decode()}">'
        for each in pictures
    ]
    plain = texts + [f"[{bounded(each.name)}: {each.size:,} bytes of PNG]" for each in pictures]
    return {"text/plain": "\n".join(plain), "text/html": "\n".join(shown)}
