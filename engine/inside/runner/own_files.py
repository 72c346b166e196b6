"""The program's own modules with the policy off. With the policy on they are belljar_policy's.

They are in the workspace, which comes first on sys.path as a script's folder does. Without a
workspace the request has them, and a finder gives them to the import system.
"""

import importlib
import os
import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType

from .source import decode

WORKSPACE = "/workspace"  # core::kWorkspacePath


class _Finder:
    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        place = name.replace(".", "/")
        for file, is_package in ((f"{place}/__init__.py", True), (f"{place}.py", False)):
            if file in self._files:
                return ModuleSpec(name, self, origin=file, is_package=is_package)  # type: ignore[arg-type]
        if any(file.startswith(f"{place}/") for file in self._files):
            return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        """As the import system makes one."""

    def exec_module(self, module: ModuleType) -> None:
        file = module.__spec__ and module.__spec__.origin
        if file:
            module.__file__ = file
            exec(compile(self._text_of(file), file, "exec", dont_inherit=True), module.__dict__)

    def get_source(self, name: str) -> str | None:
        """For linecache."""
        spec = self.find_spec(name)
        return self._text_of(spec.origin) if spec is not None and spec.origin else None

    def _text_of(self, file: str) -> str:
        return decode(self._files[file], file)


def make_importable(files: Mapping[str, bytes] | None, has_workspace: bool) -> None:
    """Worker, before a program without the policy."""
    if has_workspace and WORKSPACE not in sys.path:
        sys.path.insert(0, WORKSPACE)
    if files:
        sys.meta_path.insert(0, _Finder(files))  # type: ignore[arg-type]


def package_of(filename: str, files: Mapping[str, bytes] | None) -> str:
    """The package that the program is a module of: if it is among its own files, as with `belljar
    run -m`. "" if there is none."""
    parts = filename.split("/")
    for first in range(len(parts) - 1):
        folders = parts[first:-1]
        wanted = ("/".join(parts[first:]), "/".join((*folders, "__init__.py")))
        if not all(map(str.isidentifier, folders)):
            continue
        if files is not None and all(path in files for path in wanted):
            return ".".join(folders)
        if files is None and all(os.path.isfile(f"{WORKSPACE}/{path}") for path in wanted):
            return ".".join(folders)
    return ""


def run_package(package: str) -> None:
    """What comes before a module of the package."""
    importlib.import_module(package)
