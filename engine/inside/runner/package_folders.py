"""Folders that hold packages of a profile, on sys.path.

Of a folder that is Belljar's own everything may be imported. Where Belljar is installed into an
environment, the packages of a profile lie there beside everything else that its owner has: other
packages, perhaps of another version's making, which a package of the profile would take up if it
found them (pandas does so with bottleneck), and code that is nobody's business here. Of such a folder
only `entries` are imported. After the seal there is nothing else of it at all: this is about the
zygote, which loads before that.
"""

from __future__ import annotations

import sys
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from types import ModuleType
from typing import Any


class _ChosenFinder(FileFinder):
    """Finds in a folder only what is at the top of one of `chosen`."""

    def __init__(self, path: str, chosen: frozenset[str]) -> None:
        super().__init__(
            path,
            (ExtensionFileLoader, EXTENSION_SUFFIXES),
            (SourceFileLoader, SOURCE_SUFFIXES),
        )
        self._chosen = chosen

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname not in self._chosen:
            return None
        return super().find_spec(fullname, target)


def _module_of(entry: str) -> str:
    """ "six" of "six.py", "mpl_toolkits" of "mpl_toolkits/mplot3d"."""
    return entry.partition("/")[0].partition(".")[0]


def add_package_folders(folders: list[dict[str, Any]]) -> list[str]:
    """Zygote, before the policy imports: each `path`, with its `entries`; none: all of it."""
    for folder in folders:
        path = folder["path"]
        if folder["entries"]:
            # What sys.path_hooks would make of it, which ask nobody once this is there.
            chosen = frozenset(map(_module_of, folder["entries"]))
            sys.path_importer_cache[path] = _ChosenFinder(path, chosen)  # type: ignore[assignment]
        if path not in sys.path:
            sys.path.append(path)
    return [folder["path"] for folder in folders]
