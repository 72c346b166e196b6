"""Replacements for parts of the standard library that access files or modules, evaluate text, or
look up attributes by name. Each module here is named after the library's, with underscores for
dots.

There are two kinds. Functions replace the library's where a profile says `replace`. `reduce`
changes methods of the library's own classes in this interpreter, because with a wrapper class the
original would be one `super()` away.

Nothing here may rely on isinstance() or on a method of a guest's object.
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
    scopes,
    typing,
    xml_etree_ElementTree,
    zoneinfo,
)

__all__ = ["forget", "open_network", "program", "reduce", "scopes"]


def open_network(port: int) -> None:
    """Zygote, before packages are imported. `port`: the port of the host's egress proxy."""
    from . import network  # imports modules that are only useful with a network

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
        from . import files  # imports modules that no other profile needs

        files.reduce()
    else:
        xml_etree_ElementTree.reduce()


def forget() -> None:
    """Zygote, after the last import: removes the library's entries from caches shared by guests."""
    typing.forget()
