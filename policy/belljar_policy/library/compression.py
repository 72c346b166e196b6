"""gzip, bz2 and lzma without files: given a path, they open it.

Only pandas may still have them do so, for the data sets that packages bring along. What a program
passes to pandas is judged there, and files of the machine are the jail's to refuse.
"""

from __future__ import annotations

import _compression
import builtins
import sys
from types import FrameType
from typing import Any

from . import objects
from .objects import check_classes_of

_MAY_OPEN = "pandas.io.common"

_checked: list[Any] = []
_own_scopes: list[dict[str, Any]] = []  # of the frames between a caller and _open()


def _is_for_pandas() -> bool:
    reader = sys.modules.get(_MAY_OPEN)
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and any(frame.f_globals is scope for scope in _own_scopes):
        frame = frame.f_back
    return frame is not None and reader is not None and frame.f_globals is vars(reader)


def _open(*args: Any, **options: Any) -> Any:
    if _is_for_pandas():
        return builtins.open(*args, **options)
    raise PermissionError(
        "[BJ502] files are not available in this profile; pass io.BytesIO(data), a file in memory"
    )


class _Builtins:
    """What gzip and lzma use of the module `builtins`."""

    __slots__ = ()
    open = staticmethod(_open)


def reduce_module(module: Any) -> None:
    """Before the first use of `module`: it opens nothing, and methods check the type of `self`."""
    _own_scopes.append(vars(module))
    if not _checked:  # the base of the readers of all three
        check_classes_of(_compression)
        _checked.append(_compression)
        _own_scopes.append(vars(objects))
    if vars(module).get("builtins") is builtins:
        module.builtins = _Builtins()
    else:
        module._builtin_open = _open
    check_classes_of(module)
