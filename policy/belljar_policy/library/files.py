"""What the library's modules for files need before guests get them: pathlib, archives, compression.

Their functions go by paths; that a number opens nothing is seen to where all files are opened
(engine/inside/guards/files.cc). What is left are classes in Python, whose methods take anything for
`self`, and tables that are there to be changed.
"""

from __future__ import annotations

import importlib
import os
import sys
import zlib
from collections.abc import Callable
from types import FunctionType, MappingProxyType
from typing import Any

import _belljar_guards as guards

from . import logging, program
from .objects import is_a, only_for_its_own
from .os_path import in_python

# Classes in Python, all those that a module has, and those of its inner modules: since 3.12 zipfile
# is a package, and pathlib since 3.13.
_MODULES = ("_compression", "bz2", "gzip", "lzma", "pathlib", "tarfile", "zipfile")

# Called with what the class says it is, or looked up on the class itself.
_GIVEN_THEIR_OWN = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def reduce() -> None:
    """Zygote, before the freeze: methods take their own kind, and defaults are the safe ones."""
    logging.reduce(has_files=True)
    _reduce_tarfile(importlib.import_module("tarfile"))
    _reduce_sqlite(importlib.import_module("sqlite3"))
    importlib.import_module("pathlib")
    _reduce_parsers(sys.modules.get("pathlib._local"))
    for name in _MODULES:
        importlib.import_module(name)
    for name, module in list(sys.modules.items()):
        top = name.partition(".")[0]
        if top not in _MODULES:
            continue
        for value in list(vars(module).values()):
            # Where it is defined, and once: a second wrapper takes the first for its original.
            if isinstance(value, type) and value.__module__ == name:
                _insist(value)


def _insist(cls: Any) -> None:
    if issubclass(cls, BaseException):
        return
    for name, value in list(vars(cls).items()):
        if type(value) is FunctionType and name not in _GIVEN_THEIR_OWN:
            only_for_its_own(cls, name)


# What paths ask of it: pathlib's ParserBase, and three names that only these two have.
_OF_PARSERS = (
    "altsep", "isabs", "isreserved", "join", "normcase", "sep", "split", "splitdrive", "splitext",
    "splitroot",
)  # fmt: skip


def _reduce_parsers(pathlib: Any) -> None:
    # Since 3.13 the module that takes a path apart stands in a public attribute of its class.
    if pathlib is None:
        return
    classes = [value for value in vars(pathlib).values() if isinstance(value, type)]
    for name in ("posixpath", "ntpath"):
        module = getattr(pathlib, name)
        names = {
            each: staticmethod(in_python(value)) if callable(value) else value
            for each, value in vars(module).items()
            if each in _OF_PARSERS
        }
        parser = type(name, (), {"__slots__": (), "__module__": "pathlib", **names})()
        setattr(pathlib, name, parser)  # they are compared with what is in the classes
        for cls in classes:
            if vars(cls).get("parser") is module:
                cls.parser = parser


def _reduce_sqlite(sqlite3: Any) -> None:
    # Since 3.12. It can have SQLite take addresses of functions from a program, with
    # SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER.
    original = getattr(sqlite3.Connection, "setconfig", None)
    if original is None:
        return

    def setconfig(*args: Any) -> Any:
        if program.running.scope is program.NO_SCOPE:  # with the policy off
            return original(*args)
        raise PermissionError(
            "[BJ502] setconfig() has SQLite do what is not safe; a database here is as it is made"
        )

    setconfig.__doc__ = original.__doc__
    setconfig.__qualname__, setconfig.__module__ = "Connection.setconfig", "sqlite3"
    guards.replace_attribute(sqlite3.Connection, "setconfig", setconfig)


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
