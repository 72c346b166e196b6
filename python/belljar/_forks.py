"""Forked children: they share no sandbox with their parent and open their own on first use."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet

from belljar import _host


class Forkable(Protocol):
    def _after_fork(self) -> None: ...


_registered: WeakSet[Forkable] = WeakSet()


def register(thing: Forkable) -> None:
    """Has the object reset in forked children, where its threads, locks and engine do not work."""
    _registered.add(thing)


def _in_child() -> None:
    _host.after_fork_in_child()
    for thing in list(_registered):
        thing._after_fork()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_in_child)
