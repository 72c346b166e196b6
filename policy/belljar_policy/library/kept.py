"""The bytecode of the modules here that are loaded when a program imports the library's, and the
text of as_guest/: a sealed worker cannot read the policy's files. Reading them ahead costs some 100
KiB, loading them ten times as much.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import cache_from_source
from os.path import dirname, join
from types import ModuleType
from typing import Any

_FOLDER = dirname(__file__)
_AS_GUEST = join(dirname(_FOLDER), "as_guest")
_PACKAGE = __name__.rpartition(".")[0]
_HEADER = 16  # of a .pyc file

_texts: dict[str, str] = {}


class _Finder:
    """Finder and loader, after the interpreter's own, which serve where the files can be read."""

    def __init__(self, codes: dict[str, bytes]) -> None:
        self._codes = codes

    def find_spec(self, name: str, path: Sequence[str] | None = None, _: Any = None) -> Any:
        return ModuleSpec(name, self) if name in self._codes else None  # type: ignore[arg-type]

    def create_module(self, _: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(marshal.loads(self._codes[module.__name__][_HEADER:]), vars(module))


def keep(names: Iterable[str]) -> None:
    """Zygote: reads the bytecode of these modules, as far as there is any."""
    codes = {}
    for name in names:
        try:
            with open(cache_from_source(join(_FOLDER, f"{name}.py")), "rb") as file:
                codes[f"{_PACKAGE}.{name}"] = file.read()
        except OSError:
            continue
    sys.meta_path.append(_Finder(codes))  # type: ignore[arg-type]


def path_as_guest(name: str) -> str:
    """Of the file in as_guest/, as tracebacks show it."""
    return join(_AS_GUEST, f"{name}.py")


def keep_texts(names: Iterable[str]) -> None:
    """Zygote: reads these files of as_guest/."""
    for name in sorted(names):
        with open(path_as_guest(name), encoding="utf-8") as file:
            _texts[name] = file.read()


def text_as_guest(name: str) -> str:
    """The text of a file in as_guest/ that was kept."""
    return _texts[name]
