"""The standard library as guests get it: re-wrapped where the original reaches files or modules,
evaluates text, or looks attributes up by names it is given. One module here for each of the
library's, dots in its name as underscores.

Two kinds. Functions stand in for the library's where a profile says `replace`. `reduce` changes
methods of the library's own classes in this interpreter: a wrapper class would leave the original
one `super()` away.

Nothing here may decide by isinstance() or by a method of an object that a guest made.
"""

from __future__ import annotations

from collections.abc import Callable

from . import (
    collections,
    configparser,
    copy,
    dataclasses,
    difflib,
    enum,
    functools,
    inspect,
    pprint,
    program,
    typing,
    xml_etree_ElementTree,
    zoneinfo,
)

__all__ = ["forget", "program", "reduce"]


def reduce(has_files: bool, door: int | None = None) -> None:
    """Zygote, before the freeze. `door`: the port of the host's proxy, where there is one."""
    if door is not None:
        from . import network  # what it imports is of no use without one

        network.reduce(door)
        _after_imports.append(network.adapt_packages)
    collections.reduce()
    copy.reduce()
    dataclasses.reduce()
    difflib.reduce()
    zoneinfo.reduce()
    enum.reduce()
    functools.reduce()
    inspect.reduce()
    typing.reduce()
    pprint.reduce()
    configparser.reduce(has_files)
    if not has_files:
        xml_etree_ElementTree.reduce()


def forget() -> None:
    """Zygote, after the last import: nothing of the library's stays in caches that guests share."""
    typing.forget()
    for adapt in _after_imports:
        adapt()


_after_imports: list[Callable[[], None]] = []
