"""Folders that hold packages of a profile, on sys.path.

Of a folder that is Belljar's own everything may be imported. Where Belljar is installed into an
environment, the packages of a profile lie there beside all else that its owner has: code that
is nobody's business here, and packages that one of the profile's would take up if it found them, as
pandas does with bottleneck. Of such a folder only `entries` are imported. After the seal there is
nothing else of it at all: this is about the zygote, which loads before that.
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
    """Zygote, before the policy imports: each `path`, with its `entries`; none: all of it.

    Returns the paths, each once: several sets may lie in one folder.
    """
    chosen: dict[str, set[str]] = {}
    for folder in folders:
        chosen.setdefault(folder["path"], set()).update(map(_module_of, folder["entries"]))
    for path, modules in chosen.items():
        if modules:
            # What sys.path_hooks would make of it, which nobody asks once this is there.
            finder = _ChosenFinder(path, frozenset(modules))
            sys.path_importer_cache[path] = finder  # type: ignore[assignment]
        sys.path.append(path)
    return list(chosen)
