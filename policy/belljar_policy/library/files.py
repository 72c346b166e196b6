"""Changes to the library's modules for files: archives, compression, methods of Path.

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

from . import logging, pathlib, sqlite3
from .objects import check_packages, is_a

# All Python classes of these modules and their submodules: zipfile is a package since 3.12. The
# streams of the compressing ones are in the first.
_COMPRESSION = "compression._common._streams" if sys.version_info >= (3, 14) else "_compression"
_MODULES = (
    _COMPRESSION, "bz2", "filecmp", "gzip", "lzma", "tarfile", "zipfile",
)  # fmt: skip


def reduce() -> None:
    """Zygote, before the freeze: methods check the type of `self`, and defaults are safe."""
    logging.reduce(has_files=True)
    _reduce_tarfile(importlib.import_module("tarfile"))
    sqlite3.reduce()
    # dircmp looks up its methods by these names.
    filecmp: Any = importlib.import_module("filecmp")
    filecmp.dircmp.methodmap = MappingProxyType(filecmp.dircmp.methodmap)
    pathlib.reduce_classes()
    for name in _MODULES:
        importlib.import_module(name)
    check_packages(name.partition(".")[0] for name in _MODULES)
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
