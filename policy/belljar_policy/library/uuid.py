"""uuid1(), uuid6() and getnode(), for guests: the library runs programs to find a network card."""

from __future__ import annotations

import functools
import secrets
import uuid
from typing import Any


@functools.cache
def getnode() -> int:
    """48 random bits that stay the same for the run, as RFC 9562, section 6.10, has them where no
    address is known."""
    return secrets.randbits(48) | 1 << 40


def uuid1(node: int | None = None, clock_seq: int | None = None) -> Any:
    """uuid.uuid1, of the time and getnode()."""
    _need_integers(node, clock_seq)
    return uuid.uuid1(getnode() if node is None else node, clock_seq)


def uuid6(node: int | None = None, clock_seq: int | None = None) -> Any:
    """uuid.uuid6, since Python 3.14: uuid1() in the order of the time."""
    _need_integers(node, clock_seq)
    library: Any = uuid
    return library.uuid6(getnode() if node is None else node, clock_seq)


def _need_integers(*values: Any) -> None:
    for value in values:
        if value is not None and type(value) is not int:
            raise TypeError("an integer is required")
