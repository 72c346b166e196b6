"""Replacements for parts of the standard library that access files or modules, evaluate text, or
look up attributes by name. Each module here is named after the library's, with underscores for
dots.

There are two kinds. Functions replace the library's where a profile says `replace`. `reduce`
changes methods of the library's own classes in this interpreter, because with a wrapper class the
original would be one `super()` away.

Nothing here may rely on isinstance() or on a method of a guest's object.
"""

from __future__ import annotations

from importlib import import_module
from sys import modules as sys_modules
from typing import Any

from .. import tables
from . import (
    alone,
    collections,
    difflib,
    enum,
    functools,
    interruptible,
    kept,
    lazy_annotations,
    os,
    program,
    scheduler,
    scopes,
    sys,
    time,
    traceback,
    typing,
)
from .objects import has_finalizer

_RESULTS = frozenset({"result", tables.RESULT_NAME})
_FINALIZED = object()

__all__ = [
    "LATE_PARTS", "TEXTS_AS_GUEST", "alone", "end_program", "forget", "interruptible", "kept",
    "open_network", "os", "program", "reduce", "scheduler", "scopes", "sys", "time", "traceback",
]  # fmt: skip

LATE_PARTS = (
    "compression", "multiprocessing_parts", "refusing", "unittest_async", "unittest_case",
    "unittest_result", "unittest_runner",
)  # fmt: skip
"""What only modules use that are loaded on import (reviewed.LATE, [for_tests] of a profile)."""
TEXTS_AS_GUEST = ("logging_config", "unittest_mock")
"""Which of those run a text of as_guest/."""


def open_network(port: int) -> None:
    """Zygote, before packages are imported. `port`: the port of the host's egress proxy."""
    from . import network  # imports modules that are only useful with a network

    network.reduce(port)


def end_program() -> None:
    """Worker, after the program and its threads: what CPython does at exit."""
    alarms = sys_modules.get(f"{__name__}.signal")
    if alarms is not None:
        alarms.stop()
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


_ALONE = (
    "copy", "dataclasses", "inspect", "threading",
    "configparser", "pprint", "xml.etree.ElementTree", "zoneinfo",
)  # fmt: skip
"""Modules that nothing of ours needs, each after those that it imports."""
_reduced: set[str] = set()


def reduce_loaded(has_files: bool, left_out: frozenset[str]) -> None:
    """Zygote, before the freeze, and after imports: _ALONE, except what is `left_out` (preload.py)
    and nothing has imported."""
    for name in _ALONE:
        is_there = name in sys_modules or name.partition(".")[0] not in left_out
        if is_there and name not in _reduced:
            _reduced.add(name)
            ours: Any = import_module(f"{__name__}.{name.replace('.', '_')}")
            if hasattr(ours, "reduce"):
                ours.reduce(has_files)
    if "inspect" in _reduced:  # help() shows signatures
        import_module(f"{__name__}.help")


def reduce(has_files: bool, left_out: frozenset[str] = frozenset()) -> None:
    """Zygote, before the freeze."""
    lazy_annotations.reduce()
    collections.reduce()
    difflib.reduce()
    enum.reduce()
    functools.reduce()
    typing.reduce()
    if has_files:
        from . import files  # imports modules that no other profile needs

        files.reduce()
    reduce_loaded(has_files, left_out)


def forget() -> None:
    """Zygote, after the last import: removes the library's entries from caches shared by guests."""
    typing.forget()
