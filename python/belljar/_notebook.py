"""Display of results in notebooks.

Output, value and pictures are shown, as text or PNG only. HTML from the program, for instance of a
table, is never passed on, not even in a sandboxed frame: a notebook runs scripts with its reader's
rights, and other programs save, convert and display it, each of which would have to honour the
frame. Tables are shown as text. Control characters are escaped, because this is also shown in
terminals.
"""

from __future__ import annotations

import html
from base64 import b64encode
from typing import TYPE_CHECKING

from belljar._escaping import bounded

if TYPE_CHECKING:
    from belljar._result import Artifact, Result

PNG = b"\x89PNG\r\n\x1a\n"
MAX_PICTURES = 20


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
        if each.media_type == "image/png" and (each.content or b"").startswith(PNG)
    ]
    return pictures[:MAX_PICTURES]


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
