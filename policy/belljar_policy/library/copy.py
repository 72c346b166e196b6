"""copy, for guests.

The library's trusts what __reduce_ex__ returns: with one from an instance's own dict it is
setattr() on anything. This one asks `object` itself and sets attributes through the guard.

The library's leaves all parts of an object in the memo, and takes from there what lies in it. Here
the memo of a program is for what the program can reach: its own objects, and what is in containers.
Parts of library objects are in a dict of ours (_DeepCopy.seen).
"""

from __future__ import annotations

import copy as library
import copyreg
import enum
import types
import weakref
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


def _found(obj: Any, name: str) -> Any:
    """What the object's class has under that name, as it is."""
    for base in mro_of(type(obj)):
        found = dict_of(base).get(name)
        if found is not None:
            return found
    return None


def _special(obj: Any, name: str) -> Any:
    """A method of the object's class, looked up like an operator's method."""
    return None if _found(obj, name) is None else getattr(type(obj), name)


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


def _parts_of(obj: Any) -> Any:
    """What the object's class says of its parts, or the object itself if it is its own copy."""
    cls = type(obj)
    reducer = copyreg.dispatch_table.get(cls)
    # `object`'s own method uses the class; additions of an instance's dict are checked below.
    parts = reducer(obj) if reducer is not None else object.__reduce_ex__(obj, 4)
    if type(parts) is str:
        return obj
    if type(parts) is not tuple or not 2 <= len(parts) <= 5 or type(parts[1]) is not tuple:
        raise Error(f"cannot copy {cls.__name__!r} objects")
    func = parts[0]
    if func is getattr:  # of methods of built-in types: with `memo` it is getattr() on anything
        raise Error(f"cannot copy {cls.__name__!r} objects")
    # A __reduce__ of the program's own may name its own functions and classes.
    is_own = guards.is_guest_class(func) or guards.is_guest_function(func)
    if guards.is_guest_class(cls) and not (
        is_own or any(func is each for each in _SOUND_FACTORIES)
    ):
        raise Error(f"cannot copy {cls.__name__!r} objects here: define __copy__")
    return (*parts, None, None, None)[:5]


def _made_by(cls: type, func: Any, args: Any) -> Any:
    made = func(*args)
    # A __new__ may return something else. Each mock has a class of its own.
    if type(made) is not cls and not guards.is_guest_class(type(made)):
        raise Error(f"cannot copy {cls.__name__!r} objects here: define __copy__")
    return made


# Compared by identity: `in` would call methods of what an instance's own __reduce__ returned.
_SOUND_FACTORIES = (
    copyreg.__newobj__,  # type: ignore[attr-defined]
    copyreg.__newobj_ex__,  # type: ignore[attr-defined]
    copyreg._reconstructor,  # type: ignore[attr-defined]
)


def _set_state(made: Any, state: Any) -> None:
    setter = _found(made, "__setstate__")
    if setter is dict_of(BaseException)["__setstate__"]:
        if type(state) is dict:
            _set_attributes(made, state)
        return
    if setter is not None:
        getattr(type(made), "__setstate__")(made, state)  # noqa: B009 (mypy)
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


def _set_attributes(error: Any, state: dict[Any, Any]) -> None:
    """Of an exception, whose own method sets whatever the dict names, such as __class__."""
    for name, value in state.items():
        if type(name) is str and name[:1] != "_":
            guards.setattr(error, name, value)
        else:
            error.__dict__[name] = value


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
    if method is not None:
        return method(x)
    parts = _parts_of(x)
    if parts is x:
        return x
    func, args, state, items, pairs = parts
    made = _made_by(cls, func, args)
    if state is not None:
        _set_state(made, state)
    for item in () if items is None else items:
        made.append(item)
    for key, value in () if pairs is None else pairs:
        made[key] = value
    return made


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
    if memo is not None:
        for each in _running:
            if memo is each.seen:  # of a __deepcopy__ of the library
                return each.deep(x, False)
            if memo is each.memo:  # of one of the program
                return each.deep(x, True)
    work = _DeepCopy(memo, freezes)
    if freezes:
        return work.deep(x, False)
    _running.append(work)
    try:
        return work.deep(x, True)
    finally:
        _running.remove(work)


_running: list[_DeepCopy] = []


class _DeepCopy:
    """One deep copy, with those that __deepcopy__ methods ask for meanwhile."""

    __slots__ = ("classes", "freezes", "keep", "memo", "seen")

    def __init__(self, memo: dict | None, freezes: bool) -> None:
        self.memo = memo
        """Of the program: its own, or the one that its __deepcopy__ methods get."""
        self.seen: dict[int, Any] = {}
        """All copies, by the ids of the originals. No program gets hold of it."""
        self.keep: list[Any] = []
        """What has an id in `seen`."""
        self.classes: dict[type, bool] = {}
        """Those met, and whether they are the program's alone."""
        self.freezes = freezes

    def deep(self, obj: Any, shown: bool) -> Any:
        """The copy of `obj`. `shown`: the program can reach both, and its memo counts."""
        cls = type(obj)
        if _is_atomic(cls):
            return obj
        key, memo = id(obj), self.memo
        if memo is not None and key in memo and (shown or guards.is_guest_class(cls)):
            return memo[key]
        if key in self.seen:
            return self.seen[key]
        self.keep.append(obj)
        if cls is list:
            result: Any = []
            self._note(key, result, shown)
            for item in obj:
                result.append(self.deep(item, shown))
            return result
        if cls is dict:
            result = {}
            self._note(key, result, shown)
            for name, value in obj.items():
                result[self.deep(name, shown)] = self.deep(value, shown)
            return result
        if cls is tuple:
            result = tuple([self.deep(item, shown) for item in obj])
            if key in self.seen:
                return self.seen[key]
            if all(new is old for new, old in zip(result, obj, strict=True)):
                result = obj
        elif cls is types.MethodType:
            result = types.MethodType(obj.__func__, self.deep(obj.__self__, shown))
        elif cls in (set, frozenset):
            result = cls([self.deep(item, shown) for item in obj])
        else:
            result = self._of_instance(obj, cls, shown or guards.is_guest_class(cls))
        self._note(key, result, shown)
        return result

    def _note(self, key: int, made: Any, shown: bool) -> None:
        self.seen[key] = made
        if shown and self.memo is not None:
            self.memo[key] = made

    def _of_instance(self, obj: Any, cls: type, shown: bool) -> Any:
        if cls is Frozen:
            return self._put_together(obj, *obj.parts, shown)
        method = _special(obj, "__deepcopy__")
        if method is not None and not (self.freezes and _has_own_parts(cls)):
            return method(obj, self._memo_for(method))
        parts = _parts_of(obj)
        if parts is obj:
            return obj
        if self.freezes and _has_own_parts(cls):
            func, args, *rest = parts
            args = tuple([self.deep(arg, False) for arg in args])
            state, items, pairs = [
                each if each is None else self.deep(each if at == 0 else list(each), False)
                for at, each in enumerate(rest)
            ]
            return Frozen(cls, func, args, state, items, pairs)
        return self._put_together(obj, cls, *parts, shown)

    def _memo_for(self, method: Any) -> dict:
        """The second argument of a __deepcopy__ method."""
        if self.freezes:  # nothing that is frozen is shown
            return {}
        if not guards.is_guest_function(method):
            return self.seen
        if self.memo is None:
            self.memo = {}
        return self.memo

    def _put_together(
        self, obj: Any, cls: Any, func: Any, args: Any, state: Any, items: Any, pairs: Any,
        shown: bool,
    ) -> Any:  # fmt: skip
        deep = self.deep
        of_program = shown and self._is_of_program(cls)
        made = _made_by(cls, func, tuple([deep(arg, of_program) for arg in args]))
        self._note(id(obj), made, shown)
        if state is not None:
            # A guest's subclass of a library class has public parts of its own, and others.
            shown_state = guards.is_guest_class(cls) and shown
            _set_state(made, self._state(state, shown_state, of_program))
        for item in () if items is None else items:
            made.append(deep(item, shown))
        for key, value in () if pairs is None else pairs:
            made[deep(key, shown)] = deep(value, shown)
        return made

    def _state(self, state: Any, shown: bool, of_program: bool) -> Any:
        """A copy that stays out of the program's memo, as does what only the library reaches."""
        if not shown or type(state) not in (dict, tuple):
            return self.deep(state, of_program)
        if type(state) is tuple:
            return tuple([self._state(part, shown, of_program) for part in state])
        return {
            name: self.deep(value, of_program or _is_public(name)) for name, value in state.items()
        }

    def _is_of_program(self, cls: type) -> bool:
        """Whether no part of an instance is the library's."""
        known = self.classes.get(cls)
        if known is None:
            known = self.classes[cls] = all(
                base is object or guards.is_guest_class(base) for base in mro_of(cls)
            )
        return known


def _is_public(name: Any) -> bool:
    return type(name) is str and name[:1] != "_"


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
