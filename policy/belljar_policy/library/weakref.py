"""weakref, for guests: a copy of the library's module of their own.

Methods of its classes check the type of `self`, which would slow the library's own weak sets.
"""

from __future__ import annotations

import sys
import types
from importlib.machinery import PathFinder
from typing import Any

from .objects import check_classes_of, its_own_only


def _copy_of(name: str) -> Any:
    spec = PathFinder.find_spec(name)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module {name}", name=name)
    module: Any = types.ModuleType(name)
    module.__spec__ = spec
    spec.loader.exec_module(module)
    check_classes_of(module)
    return module


def _load() -> Any:
    shared = sys.modules["_weakrefset"]
    sets = _copy_of("_weakrefset")
    sys.modules["_weakrefset"] = sets
    try:
        library = _copy_of("weakref")
    finally:
        sys.modules["_weakrefset"] = shared
    check = sets.WeakSet
    check.__module__ = "weakref"
    return library


_finalizers: dict[Any, Any] = {}  # keeps them alive, as the library's own table does


@its_own_only
class finalize:  # noqa: N801
    """weakref.finalize. It does not run at the program's end: nothing of the program runs then.

    The library's keeps its state in the class, which is immutable here.
    """

    __slots__ = ("__weakref__", "_call", "_ref", "atexit")

    def __init__(self, obj: Any, func: Any, /, *args: Any, **kwargs: Any) -> None:
        self.atexit = True
        self._call: Any = (func, args, kwargs)
        self._ref: Any = ref(obj, lambda _: self())
        _finalizers[id(self)] = self

    def _take(self) -> Any:
        call, self._call = self._call, None
        _finalizers.pop(id(self), None)
        return call

    def __call__(self, _: Any = None) -> Any:
        """Calls the function, unless it was called or detached before."""
        call = self._take()
        return None if call is None else call[0](*call[1], **call[2])

    def peek(self) -> Any:
        """(obj, func, args, kwargs) while it is alive."""
        obj = self._ref()
        return None if self._call is None or obj is None else (obj, *self._call)

    def detach(self) -> Any:
        """The same, and it will not be called."""
        found = self.peek()
        return None if found is None else (found[0], *self._take())

    @property
    def alive(self) -> bool:
        """Whether the function will be called."""
        return self._call is not None


_library = _load()
CallableProxyType = _library.CallableProxyType
KeyedRef = _library.KeyedRef
ProxyType = _library.ProxyType
ProxyTypes = _library.ProxyTypes
ReferenceType = _library.ReferenceType
WeakKeyDictionary = _library.WeakKeyDictionary
WeakMethod = _library.WeakMethod
WeakSet = _library.WeakSet
WeakValueDictionary = _library.WeakValueDictionary
getweakrefcount = _library.getweakrefcount
getweakrefs = _library.getweakrefs
proxy = _library.proxy
ref = _library.ref
