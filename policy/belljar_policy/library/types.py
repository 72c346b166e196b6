"""types, for guests: a class made at run time is checked as one that a statement makes."""

from __future__ import annotations

import types
from typing import Any

import _belljar_guards as guards

from .. import tables

ModuleType = type(guards.Proxy("types", None, {}))
"""What every module here is: isinstance(math, types.ModuleType) holds, and nothing can be made of
it.
"""


def check_namespace(names: dict[str, Any]) -> dict[str, Any]:
    """`names`, if a class of the guest may have them all; TypeError else."""
    # NamedTuple's metaclass sets what it finds by setattr, past the check of new classes.
    for name in names:
        if type(name) is not str or (
            name[:2] == "__" and name[-2:] == "__" and name not in _DEFINABLE
        ):
            raise TypeError(f"[BJ403] a class may not define {name!r}")
    return names


# The compiler of 3.13 puts the last two into every class body.
_DEFINABLE = tables.CLASS_DUNDERS | {
    "__module__", "__qualname__", "__firstlineno__", "__static_attributes__",
}  # fmt: skip


def new_class(name: Any, bases: Any = (), kwds: Any = None, exec_body: Any = None) -> Any:
    """types.new_class; the body fills a dict of its own, which is checked."""
    names: dict[str, Any] = {}
    if exec_body is not None:
        exec_body(names)
    checked = check_namespace(dict(names))
    checked.setdefault("__module__", "__main__")
    return types.new_class(name, bases, kwds, lambda namespace: namespace.update(checked))
