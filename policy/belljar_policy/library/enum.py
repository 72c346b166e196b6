"""enum, for guests."""

from __future__ import annotations

import enum
from typing import Any

import _belljar_guards as guards

from .objects import mro_of


def reduce() -> None:
    """Zygote, before the freeze: only EnumMeta creates enumerations, and modules that are loaded
    later make their own by the ordinary way."""
    # With a metaclass M(EnumMeta, Own), EnumMeta's super().__new__ would call Own.__new__, which
    # can return any object; the library copies its __dict__ to where the program sees it.
    meta: Any = enum.EnumMeta
    original = meta.__new__

    def __new__(metacls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        kind = metacls if meta in mro_of(metacls) else type(metacls)
        mro = mro_of(kind)
        if any(guards.is_guest_class(base) for base in mro[mro.index(meta) :]):
            raise TypeError("[BJ404] in a metaclass's bases, EnumMeta must come last")
        return original(metacls, *args, **kwargs)

    meta.__new__ = __new__

    quick = enum._simple_enum  # type: ignore[attr-defined]

    def _simple_enum(etype: Any = enum.Enum, *, boundary: Any = None, use_args: Any = None) -> Any:
        if not guards.is_loading():
            return quick(etype, boundary=boundary, use_args=use_args)

        def convert(cls: Any) -> Any:
            names = type(etype).__prepare__(cls.__name__, (etype,))
            for name, value in vars(cls).items():
                if name not in ("__dict__", "__weakref__"):
                    names[name] = value
            more = {} if boundary is None else {"boundary": boundary}
            return guards.library_class(cls.__name__, (etype,), names, type(etype), **more)

        return convert

    enum._simple_enum = _simple_enum  # type: ignore[attr-defined]
