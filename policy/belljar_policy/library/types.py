"""types, for guests: a class created at run time is checked like a class statement."""

from __future__ import annotations

import types
from typing import Any

import _belljar_guards as guards

from .. import tables

ModuleType = type(guards.Proxy("types", None, {}))
"""The type of every module that a guest sees: isinstance(math, types.ModuleType) is true. What it
makes is a module of the program's own.
"""


def check_namespace(names: dict[str, Any]) -> dict[str, Any]:
    """Returns `names` if a guest's class may have them all, else raises TypeError."""
    # NamedTuple's metaclass uses setattr, which bypasses the check of new classes.
    for name in names:
        if type(name) is not str or (
            name[:2] == "__" and name[-2:] == "__" and name not in _DEFINABLE
        ):
            raise TypeError(f"[BJ403] a class may not define {name!r}")
    return names


# The compiler of 3.13 puts the next two into every class body, and that of 3.14 the last three into
# one with annotations: a function, a cell and a set.
_DEFINABLE = tables.CLASS_DUNDERS | {
    "__module__", "__qualname__", "__firstlineno__", "__static_attributes__",
    "__annotate_func__", "__classdictcell__", "__conditional_annotations__",
}  # fmt: skip


def new_class(name: Any, bases: Any = (), kwds: Any = None, exec_body: Any = None) -> Any:
    """types.new_class; the body fills a separate dict, which is checked."""
    names: dict[str, Any] = {}
    if exec_body is not None:
        exec_body(names)
    checked = check_namespace(dict(names))
    checked.setdefault("__module__", "__main__")
    return types.new_class(name, bases, kwds, lambda namespace: namespace.update(checked))


class _Opaque(type):
    """The metaclass of names for annotations: there is no instance, and none can be made."""

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise TypeError(f"cannot create '{cls.__name__}' instances")

    def __instancecheck__(cls, instance: Any) -> bool:
        return False


class CellType(metaclass=_Opaque):
    """The type of cells, none of which a program can reach."""


class CodeType(metaclass=_Opaque):
    """The type of code objects, none of which a program can reach."""


class FrameType(metaclass=_Opaque):
    """The type of frames, none of which a program can reach."""


class TracebackType(metaclass=_Opaque):
    """The type of tracebacks, none of which a program can reach."""
