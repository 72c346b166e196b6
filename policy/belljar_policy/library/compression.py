"""gzip, bz2 and lzma without files: they open what they are given a path of."""

from __future__ import annotations

import builtins
import sys
from typing import Any

from .. import lookout
from .objects import check_classes_of

_streams: Any
if sys.version_info >= (3, 14):
    from compression._common import _streams
else:
    import _compression as _streams

_checked: list[Any] = []


def _open(file: Any, *arguments: Any, **options: Any) -> Any:
    if lookout.watches():  # the hook lets packages read their own data, and names the profile
        return builtins.open(file, *arguments, **options)
    raise PermissionError(
        "[BJ502] files are not available in this profile; pass io.BytesIO(data), a file in memory"
    )


class _Builtins:
    """What gzip and lzma use of the module `builtins`."""

    __slots__ = ()
    open = staticmethod(_open)


def reduce_module(module: Any) -> None:
    """Before the first use of `module`: it opens nothing, and methods check the type of `self`."""
    if not _checked:  # the base of the readers of all three
        check_classes_of(_streams)
        _checked.append(_streams)
    if vars(module).get("builtins") is builtins:
        module.builtins = _Builtins()
    else:
        module._builtin_open = _open
    check_classes_of(module)
