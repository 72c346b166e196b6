"""Changes to the library's modules for files: pathlib, archives, compression.

Their functions take paths; engine/inside/guards/files.cc ensures that a number opens nothing. What
remains are Python classes, whose methods accept any `self`, and mutable tables.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import zlib
from collections.abc import Callable
from types import FunctionType, MappingProxyType
from typing import Any

from . import logging, sqlite3
from .objects import is_a, only_for_its_own
from .os_path import in_python

# All Python classes of these modules and their submodules: zipfile is a package since 3.12, pathlib
# since 3.13. The streams of the compressing ones are in the first.
_COMPRESSION = "compression._common._streams" if sys.version_info >= (3, 14) else "_compression"
_MODULES = (
    _COMPRESSION, "bz2", "filecmp", "gzip", "lzma", "pathlib", "tarfile", "zipfile",
)  # fmt: skip

# Called on the class instead of an instance.
_GIVEN_THEIR_OWN = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def reduce() -> None:
    """Zygote, before the freeze: methods check the type of `self`, and defaults are safe."""
    logging.reduce(has_files=True)
    _reduce_tarfile(importlib.import_module("tarfile"))
    sqlite3.reduce()
    # dircmp looks up its methods by these names.
    filecmp: Any = importlib.import_module("filecmp")
    filecmp.dircmp.methodmap = MappingProxyType(filecmp.dircmp.methodmap)
    importlib.import_module("pathlib")
    _reduce_parsers(sys.modules.get(sys.modules["pathlib"].Path.__module__))
    for name in _MODULES:
        importlib.import_module(name)
    tops = {name.partition(".")[0] for name in _MODULES}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in tops:
            continue
        for value in list(vars(module).values()):
            # Only where the class is defined: a second wrapper would wrap the first.
            if isinstance(value, type) and value.__module__ == name:
                _insist(value)
    _make_patchable(sys.modules["pathlib"].Path)


_PATCHABLE = (
    "exists", "glob", "is_dir", "is_file", "iterdir", "mkdir", "open", "read_bytes", "read_text",
    "rename", "rglob", "rmdir", "stat", "touch", "unlink", "write_bytes", "write_text",
)  # fmt: skip
_patched: dict[str, Any] = {}


def _make_patchable(cls: Any) -> None:
    """Tests patch methods of Path, whose class no program may change: patch("pathlib.Path.exists").
    Each of these looks first for what a test has put in its place."""
    for name in _PATCHABLE:
        setattr(cls, name, _patchable(name, getattr(cls, name)))


def _patchable(name: str, original: Any) -> Any:
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        found = _patched.get(name)
        if found is None:
            return original(self, *args, **kwargs)
        # A function becomes a method, and a mock does not.
        if type(found) is FunctionType:
            return found(self, *args, **kwargs)
        return found(*args, **kwargs)

    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(method, attribute, getattr(original, attribute))
    method.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
    return method


def patch_path(name: str, *value: Any) -> bool:
    """Replaces a method of Path for this program; without a value, or with its own, puts it back.
    False if there is no such method."""
    if name not in _PATCHABLE:
        return False
    if value and value[0] is not getattr(sys.modules["pathlib"].Path, name):
        _patched[name] = value[0]
    else:
        _patched.pop(name, None)
    return True


def _insist(cls: Any) -> None:
    if issubclass(cls, BaseException):
        return
    for name, value in list(vars(cls).items()):
        if type(value) is FunctionType and name not in _GIVEN_THEIR_OWN:
            only_for_its_own(cls, name)


# The names that paths use: pathlib's ParserBase, and three names that only these two have.
_OF_PARSERS = (
    "altsep", "isabs", "isreserved", "join", "normcase", "sep", "split", "splitdrive", "splitext",
    "splitroot",
)  # fmt: skip


def _reduce_parsers(pathlib: Any) -> None:
    # Since 3.13 a path class has the module that parses paths in a public attribute.
    if not hasattr(pathlib.Path, "parser"):
        return
    classes = [value for value in vars(pathlib).values() if isinstance(value, type)]
    for name in ("posixpath", "ntpath"):
        module = sys.modules[name]
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
    if "ntpath" in vars(pathlib.PureWindowsPath):  # 3.14 imports it into the class
        del pathlib.PureWindowsPath.ntpath
        pathlib.PureWindowsPath.is_reserved = _is_reserved


def _is_reserved(self: Any) -> bool:
    """PurePath.is_reserved(), which compares the parser with the real module."""
    return self.parser.isreserved(self)


_is_reserved.__name__, _is_reserved.__qualname__ = "is_reserved", "PurePath.is_reserved"
_is_reserved.__module__ = "pathlib"


def _reduce_tarfile(tarfile: Any) -> None:
    # TarFile.open() looks up methods by these names on the class that it is called on.
    tarfile.TarFile.OPEN_METH = MappingProxyType(dict(tarfile.TarFile.OPEN_METH))
    # User names are looked up over a socket, which is not available.
    tarfile.pwd = tarfile.grp = None
    # A stream has the compression module in a public attribute.
    names = {name: value for name, value in vars(zlib).items() if name[0] != "_"}
    parts = type("zlib", (), {"__slots__": (), "__module__": "tarfile", **names})()
    tarfile._Stream.zlib = property(lambda self: parts, lambda self, value: None)
    # The default of Python 3.14: no absolute names, no names that lead out, no devices.
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
