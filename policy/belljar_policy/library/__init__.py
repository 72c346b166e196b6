"""The standard library as guests get it: re-wrapped where the original reaches files or modules,
evaluates text, or looks attributes up by names it is given. One module here for each of the
library's, dots in its name as underscores.

Two kinds. Functions stand in for the library's where a profile says `replace`. `reduce` changes
methods of the library's own classes in this interpreter: a wrapper class would leave the original
one `super()` away.

Nothing here may decide by isinstance() or by a method of an object that a guest made.
"""

from __future__ import annotations

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

__all__ = ["forget", "open_network", "program", "reduce"]


def open_network(port: int) -> None:
    """Zygote, before packages are imported. `egress`: the port of the host's proxy."""
    from . import network  # what it imports is of no use without one

    network.reduce(port)


def reduce(has_files: bool) -> None:
    """Zygote, before the freeze."""
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
    if has_files:
        from . import files  # and with it what no other profile needs

        files.reduce()
    else:
        xml_etree_ElementTree.reduce()


def forget() -> None:
    """Zygote, after the last import: nothing of the library's stays in caches that guests share."""
    typing.forget()
