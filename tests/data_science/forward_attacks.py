"""For test_escapes.py: library objects that pass attributes on, around a real module.

The frame that loads the attribute is the library's, and the name is the program's.
"""

from __future__ import annotations

REFUSED = "BJ301"

SHARED = """
import functools
import types
import typing
import weakref
import plotly.graph_objects as go
from sklearn.calibration import FrozenEstimator
held = go.Layout.re
Alias = type(typing.List[int])
"""

# what is tried: (body of the function, what stops it)
ATTACKS: dict[str, tuple[str, str]] = {
    "an alias of typing": ('return Alias(held, (int,), name="List").enum', REFUSED),
    "and on to the modules of the interpreter": (
        'return Alias(held, (int,), name="List").enum.sys.modules["os"].popen',
        REFUSED,
    ),
    "by getattr()": ('return getattr(Alias(held, (int,), name="List"), "enum")', REFUSED),
    "an alias in a class of the program": (
        """
        class Mine(Alias, _root=True):
            pass
        return Mine(held, (int,), name="List").enum
        """,
        "BJ404",
    ),
    "an alias of an alias": (
        'inner = Alias(held, (int,), name="List")\nreturn Alias(inner, (int,), name="List").enum',
        REFUSED,
    ),
    "a union": (
        'return type(typing.Union[int, str])(held, (int,), name="List").enum',
        REFUSED,
    ),
    "an alias in C": ("return types.GenericAlias(held, int).enum", REFUSED),
    "an alias in C within one of typing": (
        'return Alias(types.GenericAlias(held, int), (int,), name="List").enum',
        REFUSED,
    ),
    "a weak proxy": ("return weakref.proxy(held).enum", REFUSED),
    "a weak proxy within an alias": (
        'return Alias(weakref.proxy(held), (int,), name="List").enum',
        REFUSED,
    ),
    "a frozen estimator": ("return FrozenEstimator(held).enum", REFUSED),
    "a store by way of an alias": (
        'Alias(held, (int,), name="List").planted = 1\nreturn held.planted',
        "BJ305",
    ),
    "what a module contains, copied by a decorator": (
        """
        def mine(): pass
        functools.update_wrapper(mine, held, assigned=("enum",), updated=())
        return mine.enum
        """,
        "no attribute 'enum'",
    ),
    "all that a module contains": (
        """
        def mine(): pass
        functools.update_wrapper(mine, held, assigned=(), updated=("__dict__",))
        return mine.enum
        """,
        "no attribute 'enum'",
    ),
    "a copy of a module's contents": ('return vars(held)["enum"]', REFUSED),
    "a registry for a module's names": (
        "return functools.singledispatch(held).enum",
        "no attribute 'enum'",
    ),
}
