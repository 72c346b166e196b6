"""hashlib.file_digest, for guests: the library's version reads a file object's descriptor."""

from __future__ import annotations

import hashlib
from typing import Any

import _belljar_guards as guards


def file_digest(fileobj: Any, digest: Any, /, *, _bufsize: int = 1 << 18) -> Any:
    """The digest of what is left to read of a file object, opened in binary mode."""
    made = hashlib.new(digest) if type(digest) is str else digest()
    read = guards.getattr(fileobj, "read")
    update = guards.getattr(made, "update")
    while data := read(_bufsize):
        update(data)
    return made
