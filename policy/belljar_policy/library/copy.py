"""copy, for guests.

The library's trusts what __reduce_ex__ returns: with one from an instance's own dict it is
setattr() on anything. This one asks `object` itself and sets attributes through the guard.
"""

from __future__ import annotations

import copy as library
import copyreg
import enum
import types
import weakref
from collections.abc import Callable
from typing import Any

import _belljar_guards as guards

from .objects import dict_of, mro_of
from .types import ModuleType

_ATOMIC = frozenset({
    type(None), type(Ellipsis), type(NotImplemented), int, float, bool, complex, bytes, str, type,
    range, property, types.FunctionType, types.BuiltinFunctionType, weakref.ref,
    types.MethodWrapperType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    ModuleType,
})  # fmt: skip


class Error(Exception):
    """copy.Error."""


def _special(obj: Any, name: str) -> Any:
    """A method of the object's class, looked up like an operator's method."""
    for base in mro_of(type(obj)):
        found = dict_of(base).get(name)
        if found is not None:
            return getattr(type(obj), name)
    return None


class Frozen:
    """An object in parts, for pickle: __setstate__ and the like are called when it is thawed."""

    __slots__ = ("parts",)

    def __init__(self, *parts: Any) -> None:
        self.parts = parts


_PARTS = ("__reduce__", "__getstate__", "__setstate__", "__getnewargs__", "__getnewargs_ex__")


def _has_own_parts(cls: type) -> bool:
    """Whether the program says how its objects are taken apart or put together."""
    return any(
        name in dict_of(base) for base in mro_of(cls) if guards.is_guest_class(base)
        for name in _PARTS
    )  # fmt: skip


def _rebuild(obj: Any, deep: Callable | None, freezes: bool = False) -> Any:
    cls = type(obj)
    reducer = copyreg.dispatch_table.get(cls)
    # `object`'s own method uses the class; additions of an instance's dict are checked below.
    parts = reducer(obj) if reducer is not None else object.__reduce_ex__(obj, 4)
    if type(parts) is str:
        return obj
    if type(parts) is not tuple or not 2 <= len(parts) <= 5 or type(parts[1]) is not tuple:
        raise Error(f"cannot copy {cls.__name__!r} objects")
    func, args, state, items, pairs = (*parts, None, None, None)[:5]
    if func is getattr:  # of methods of built-in types: with `memo` it is getattr() on anything
        raise Error(f"cannot copy {cls.__name__!r} objects")
    # A __reduce__ of the program's own may name its own functions and classes.
    is_own = guards.is_guest_class(func) or guards.is_guest_function(func)
    if guards.is_guest_class(cls) and not (
        is_own or any(func is each for each in _SOUND_FACTORIES)
    ):
        raise Error(f"cannot copy {cls.__name__!r} objects here: define __copy__")
    if deep is not None:
        args = tuple([deep(arg) for arg in args])
        if freezes and _has_own_parts(cls):
            listed = [None if each is None else deep(list(each)) for each in (items, pairs)]
            return Frozen(cls, func, args, deep(state), *listed)
    return _put_together(obj, cls, func, args, state, items, pairs, deep)


def _put_together(
    obj: Any, cls: Any, func: Any, args: Any, state: Any, items: Any, pairs: Any, deep: Any
) -> Any:
    made = func(*args)
    # A __new__ may return something else. Each mock has a class of its own.
    if type(made) is not cls and not guards.is_guest_class(type(made)):
        raise Error(f"cannot copy {cls.__name__!r} objects here: define __copy__")
    if deep is not None:
        deep(obj, made)
    if state is not None:
        _set_state(made, deep(state) if deep is not None else state)
    if items is not None:
        for item in items:
            made.append(deep(item) if deep is not None else item)
    if pairs is not None:
        for key, value in pairs:
            if deep is not None:
                key, value = deep(key), deep(value)
            made[key] = value
    return made


# Compared by identity: `in` would call methods of what an instance's own __reduce__ returned.
_SOUND_FACTORIES = (
    copyreg.__newobj__,  # type: ignore[attr-defined]
    copyreg.__newobj_ex__,  # type: ignore[attr-defined]
    copyreg._reconstructor,  # type: ignore[attr-defined]
)


def _set_state(made: Any, state: Any) -> None:
    setter = _special(made, "__setstate__")
    if setter is not None:
        setter(made, state)
        return
    attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
    if attributes is not None:
        made.__dict__.update(attributes)
    if slots is not None:
        for key, value in slots.items():
            slot = _slot_of_library(type(made), key)
            if slot is not None:
                slot.__set__(made, value)
            else:
                guards.setattr(made, key, value)


def _slot_of_library(cls: type, name: Any) -> Any:
    """The slot of that name, where no class is the program's: `object` itself says what is in it.

    They may be private: TarInfo._tarfile, of an archive's member that is packed (Python 3.13).
    """
    if type(name) is not str or guards.is_guest_class(cls):
        return None
    for base in mro_of(cls):
        found = dict_of(base).get(name)
        if found is not None:
            return found if type(found) is types.MemberDescriptorType else None
    return None


def _is_atomic(cls: type) -> bool:
    return cls in _ATOMIC or issubclass(cls, type) or issubclass(type(cls), enum.EnumMeta)


def copy(x: Any) -> Any:
    """copy.copy."""
    cls = type(x)
    if _is_atomic(cls):
        return x
    if cls in (list, dict, set, bytearray):
        return x.copy()
    if cls in (tuple, frozenset):
        return x
    method = _special(x, "__copy__")
    return method(x) if method is not None else _rebuild(x, None)


def replace(obj: Any, /, **changes: Any) -> Any:
    """copy.replace, of Python 3.13: by the class's own __replace__, and no other."""
    method = _special(obj, "__replace__")
    if method is None:
        raise TypeError(f"replace() does not support {type(obj).__name__} objects")
    return method(obj, **changes)


def deepcopy(x: Any, memo: Any = None) -> Any:
    """copy.deepcopy."""
    if memo is not None and type(memo) is not dict:  # one with methods of its own may lie
        raise TypeError("[BJ502] memo must be a plain dict")
    return deepcopy_of(x, memo)


def deepcopy_of(x: Any, memo: Any = None, *, freezes: bool = False) -> Any:
    """A deep copy; with `freezes`, of which a second deep copy is what pickle.loads() returns."""
    seen: dict[int, Any] = {} if memo is None else memo
    keep: list[Any] = []

    def deep(obj: Any, made: Any = None) -> Any:
        if made is not None:
            seen[id(obj)] = made
            return made
        cls = type(obj)
        if _is_atomic(cls):
            return obj
        if id(obj) in seen:
            return seen[id(obj)]
        keep.append(obj)
        if cls is list:
            result: Any = []
            seen[id(obj)] = result
            for item in obj:
                result.append(deep(item))
            return result
        if cls is dict:
            result = {}
            seen[id(obj)] = result
            for key, value in obj.items():
                result[deep(key)] = deep(value)
            return result
        if cls is tuple:
            result = tuple([deep(item) for item in obj])
            if id(obj) in seen:
                return seen[id(obj)]
            if all(new is old for new, old in zip(result, obj, strict=True)):
                result = obj
        elif cls is types.MethodType:
            result = types.MethodType(obj.__func__, deep(obj.__self__))
        elif cls in (set, frozenset):
            result = cls([deep(item) for item in obj])
        elif cls is Frozen:
            made_by, func, args, state, items, pairs = obj.parts
            result = _put_together(
                obj, made_by, func, tuple(map(deep, args)), state, items, pairs, deep
            )
        else:
            method = _special(obj, "__deepcopy__")
            if method is not None and not (freezes and _has_own_parts(cls)):
                result = method(obj, seen)
            else:
                result = _rebuild(obj, deep, freezes)
        seen[id(obj)] = result
        return result

    try:
        return deep(x)
    finally:
        keep.clear()  # deep() refers to itself, and would keep all objects until a collection
        if memo is None:
            seen = {}


def _to_our_copy(x):  # type: ignore[no-untyped-def]
    return _belljar_copy(x)  # type: ignore[name-defined]  # noqa: F821


def _to_our_deepcopy(x, memo=None, _nil=None):  # type: ignore[no-untyped-def]
    return _belljar_deepcopy(x, memo)  # type: ignore[name-defined]  # noqa: F821


def reduce(_: bool) -> None:
    """Zygote, before the freeze: UserDict.copy() and its like call the library's by its name, and C
    code (Element.__deepcopy__) by the function that it found when it was loaded."""
    original: Any = library
    copy.__doc__, deepcopy.__doc__ = original.copy.__doc__, original.deepcopy.__doc__
    original._belljar_copy, original._belljar_deepcopy = copy, deepcopy
    original.copy.__code__ = _to_our_copy.__code__
    original.deepcopy.__code__ = _to_our_deepcopy.__code__
    original.copy, original.deepcopy = copy, deepcopy
