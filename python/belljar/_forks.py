"""Forked children: they share no sandbox with their parent and open their own on first use."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet

from belljar import _host


class Forkable(Protocol):
    def _after_fork(self) -> None: ...


_known: WeakSet[Forkable] = WeakSet()


def know(thing: Forkable) -> None:
    """Registers an object to be reset in forked children: its threads, locks and engine are the
    parent's."""
    _known.add(thing)


def _in_child() -> None:
    _host.after_fork_in_child()
    for thing in list(_known):
        thing._after_fork()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_in_child)
