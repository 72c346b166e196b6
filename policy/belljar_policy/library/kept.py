"""The bytecode of the modules here that are loaded when a program imports the library's: a sealed
worker cannot read the policy's files. Reading them ahead costs some 50 KiB, loading them ten times
as much.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import cache_from_source
from pathlib import Path
from types import ModuleType
from typing import Any

_FOLDER = Path(__file__).parent
_PACKAGE = __name__.rpartition(".")[0]
_HEADER = 16  # of a .pyc file


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
            data = Path(cache_from_source(str(_FOLDER / f"{name}.py"))).read_bytes()
        except OSError:
            continue
        codes[f"{_PACKAGE}.{name}"] = data
    sys.meta_path.append(_Finder(codes))  # type: ignore[arg-type]
