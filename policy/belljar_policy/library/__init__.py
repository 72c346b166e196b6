"""Replacements for parts of the standard library that access files or modules, evaluate text, or
look up attributes by name. Each module here is named after the library's, with underscores for
dots.

There are two kinds. Functions replace the library's where a profile says `replace`. `reduce`
changes methods of the library's own classes in this interpreter, because with a wrapper class the
original would be one `super()` away.

Nothing here may rely on isinstance() or on a method of a guest's object.
"""

from __future__ import annotations

from sys import modules as sys_modules
from typing import Any

from .. import tables
from . import (
    collections,
    configparser,
    copy,
    dataclasses,
    difflib,
    enum,
    functools,
    inspect,
    kept,
    lazy_annotations,
    os,
    pprint,
    program,
    scheduler,
    scopes,
    sys,
    threading,
    traceback,
    typing,
    xml_etree_ElementTree,
    zoneinfo,
)
from .objects import has_finalizer

_RESULTS = frozenset({"result", tables.RESULT_NAME})
_FINALIZED = object()

__all__ = [
    "LATE_PARTS", "TEXTS_AS_GUEST", "end_program", "forget", "kept", "open_network", "os",
    "program", "reduce", "scheduler", "scopes", "sys", "threading", "traceback",
]  # fmt: skip

LATE_PARTS = (
    "compression", "multiprocessing_parts", "unittest_async", "unittest_case", "unittest_result",
)  # fmt: skip
"""What only modules use that are loaded on import (reviewed.LATE)."""
TEXTS_AS_GUEST = ("logging_config", "unittest_mock")
"""Which of those run a text of as_guest/."""


def open_network(port: int) -> None:
    """Zygote, before packages are imported. `port`: the port of the host's egress proxy."""
    from . import network  # imports modules that are only useful with a network

    network.reduce(port)


def end_program() -> None:
    """Worker, after the program and its threads: what CPython does at exit."""
    registered = sys_modules.get(f"{__name__}.atexit")
    if registered is not None:
        registered.run()
    # Objects with a __del__() that the program's globals still name. The names stay: they are the
    # program's variables. The result is still to be shown.
    scope = program.running.scope
    for name in list(scope):
        if name not in _RESULTS and has_finalizer(type(scope.get(name))):
            scope[name] = _FINALIZED


def asyncio_package() -> Any:
    """The package that programs import as asyncio. The profile decides whether it is loaded."""
    try:
        return sys_modules[f"{__name__}.asyncio"].package
    except KeyError:
        raise RuntimeError("await at the top level needs asyncio, which is not here") from None


def reduce(has_files: bool) -> None:
    """Zygote, before the freeze."""
    lazy_annotations.reduce()
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
