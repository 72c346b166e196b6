"""The comments of a source that are addressed to Belljar: `# belljar: ignore[BJ501]`.

CPython's tokenizer says what a comment is: a "#" in a string is none. It is slow (a library in
Python), so it only looks at sources that hold the words at all.
"""

from __future__ import annotations

import io
import re
import tokenize
from typing import Any

MAX_COMMENTS = 1000
_MAX_TEXT = 200

_ADDRESSED = re.compile(r"#\s*belljar:")


def addressed_comments(text: str) -> list[dict[str, Any]]:
    """Line (from 1) and text of each, in order; none for what is not Python."""
    if not _ADDRESSED.search(text):
        return []
    comments: list[dict[str, Any]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type != tokenize.COMMENT or not _ADDRESSED.match(token.string):
                continue
            comments.append({"line": token.start[0], "text": token.string[:_MAX_TEXT]})
            if len(comments) == MAX_COMMENTS:
                break
    except (tokenize.TokenError, SyntaxError):
        return []
    return comments
