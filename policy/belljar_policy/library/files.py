"""What the library's modules for files need before guests get them: pathlib, archives, compression.

Their functions go by paths; that a number opens nothing is seen to where all files are opened
(engine/inside/guards/files.cc). What is left are classes in Python, whose methods take anything for
`self`, and tables that are there to be changed.
"""

from __future__ import annotations

import importlib
import os
import zlib
from collections.abc import Callable
from types import FunctionType, MappingProxyType
from typing import Any

from . import logging
from .objects import is_a, only_for_its_own

# Classes in Python, all those that a module has.
_MODULES = ("_compression", "bz2", "gzip", "lzma", "pathlib", "tarfile", "zipfile")

# Called with what the class says it is, or looked up on the class itself.
_GIVEN_THEIR_OWN = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def reduce() -> None:
    """Zygote, before the freeze: methods take their own kind, and defaults are the safe ones."""
    logging.reduce(has_files=True)
    _reduce_tarfile(importlib.import_module("tarfile"))
    for name in _MODULES:
        module = importlib.import_module(name)
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__.partition(".")[0] == name:
                _insist(value)


def _insist(cls: Any) -> None:
    if issubclass(cls, BaseException):
        return
    for name, value in list(vars(cls).items()):
        if type(value) is FunctionType and name not in _GIVEN_THEIR_OWN:
            only_for_its_own(cls, name)


def _reduce_tarfile(tarfile: Any) -> None:
    # TarFile.open() looks up the methods of these names on whatever class it is called on.
    tarfile.TarFile.OPEN_METH = MappingProxyType(dict(tarfile.TarFile.OPEN_METH))
    # Names of users are asked for over a socket, which nobody here has.
    tarfile.pwd = tarfile.grp = None
    # A stream keeps the module that it packs with in a public attribute.
    names = {name: value for name, value in vars(zlib).items() if name[0] != "_"}
    parts = type("zlib", (), {"__slots__": (), "__module__": "tarfile", **names})()
    tarfile._Stream.zlib = property(lambda self: parts, lambda self, value: None)
    # As Python 3.14 has it: no absolute names, none that lead out, no devices.
    if hasattr(tarfile, "data_filter"):
        tarfile.TarFile.extraction_filter = staticmethod(tarfile.data_filter)
    else:  # before 3.11.4
        tarfile.TarFile.extract = _judged(tarfile)


def _judged(tarfile: Any) -> Callable:
    """TarFile.extract(), by which extractall() goes too, of what stays below where it is put."""
    original = tarfile.TarFile.extract

    def need_below(folder: str, *names: str) -> None:
        target = os.path.realpath(os.path.join(folder, *names))
        if os.path.commonpath([target, folder]) != folder:
            raise tarfile.ExtractError(f"{names[-1]!r} would be unpacked to {target!r}, outside")

    def extract(self: Any, member: Any, path: Any = "", *args: Any, **kwargs: Any) -> None:
        """Extract a member from the archive below `path`, using its full name."""
        found = member if is_a(member, tarfile.TarInfo) else self.getmember(member)
        folder = os.path.realpath(path)
        need_below(folder, found.name)
        if found.issym():
            need_below(folder, os.path.dirname(found.name), found.linkname)
        elif found.islnk():
            need_below(folder, found.linkname)
        elif not found.isreg() and not found.isdir():
            raise tarfile.ExtractError(f"{found.name!r} is a special file")
        original(self, found, path, *args, **kwargs)

    return extract
