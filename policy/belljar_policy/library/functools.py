"""functools, for guests: nothing is looked up or set by names from the caller."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import _belljar_guards as guards

from .objects import dict_of, mro_of, need_guest_class

_COPIED = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")


def update_wrapper(
    wrapper: Any,
    wrapped: Any,
    assigned: Any = functools.WRAPPER_ASSIGNMENTS,
    updated: Any = functools.WRAPPER_UPDATES,
) -> Any:
    """functools.update_wrapper for the default names; others are ignored."""
    # With names from the caller this would be getattr and setattr on any object:
    # update_wrapper(f, textwrap.dedent, assigned=(), updated=('__globals__',)).
    names = [name for name in assigned if type(name) is str and name in _COPIED]
    if _ANNOTATE in assigned and _copy_annotate(wrapper, wrapped):
        names.append("__annotations__")
    if guards.is_guest_function(wrapper):
        for name in names:
            if name == "__module__":
                continue
            try:
                value = guards.getattr(wrapped, name)
            except AttributeError:
                continue
            except NameError:  # of annotations that name what does not exist yet
                continue
            guards.setattr(wrapper, name, value)
        if type(wrapped) is types.FunctionType and guards.is_guest_function(wrapped):
            wrapper.__dict__.update(wrapped.__dict__)
        wrapper.__wrapped__ = wrapped
        return wrapper
    for name in ("__name__", "__doc__"):
        try:
            value = guards.getattr(wrapped, name)
            if type(wrapper) is functools.partial and type(value) is str:
                wrapper.__dict__[name] = value
            else:
                guards.setattr(wrapper, name, value)
        except (AttributeError, TypeError):
            continue
    return wrapper


# Since Python 3.14 instead of "__annotations__", which would evaluate them.
_ANNOTATE = "__annotate__"


def _copy_annotate(wrapper: Any, wrapped: Any) -> bool:
    """Copies what evaluates the annotations of a function of the program to another one. True: the
    annotations are to be copied instead."""
    if type(wrapper) is not types.FunctionType or not guards.is_guest_function(wrapper):
        return True
    if type(wrapped) is not types.FunctionType or not guards.is_guest_function(wrapped):
        return True
    wrapper.__annotate__ = wrapped.__annotate__  # type: ignore[attr-defined]
    return False


def wraps(
    wrapped: Any,
    assigned: Any = functools.WRAPPER_ASSIGNMENTS,
    updated: Any = functools.WRAPPER_UPDATES,
) -> Any:
    """functools.wraps on the update_wrapper above."""
    return functools.partial(update_wrapper, wrapped=wrapped, assigned=assigned, updated=updated)


def total_ordering(cls: Any) -> Any:
    """functools.total_ordering for the program's own classes."""
    need_guest_class(cls, "total_ordering")
    return functools.total_ordering(cls)


class _SingleDispatch:
    """functools.singledispatch that does not evaluate annotations, unlike the library's."""

    __slots__ = ("__dict__", "__weakref__", "_function", "_registry")

    def __init__(self, function: Callable) -> None:
        self._function = function
        self._registry: dict[Any, Callable] = {object: function}
        for name in ("__name__", "__doc__"):
            self.__dict__[name] = guards.getattr(function, name, None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError("a singledispatch function needs at least 1 positional argument")
        return self.dispatch(type(args[0]))(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def dispatch(self, cls: type) -> Callable:
        """The implementation for `cls`."""
        # Not the library's: it puts the bases of `cls` into a set and looks up every subclass of
        # the registered classes in it, which exposes them to a metaclass's __eq__.
        mro = mro_of(cls)  # TypeError for what is no class
        abstract = [kind for kind in self._registry if kind not in mro and _is_subclass(cls, kind)]
        if abstract:
            mro = functools._c3_mro(cls, abcs=abstract)  # type: ignore[attr-defined]
        found = None
        for kind in mro:
            if found is not None:
                if (
                    kind in abstract
                    and found in abstract
                    and kind not in mro_of(found)
                    and not _is_subclass(found, kind)
                ):
                    raise RuntimeError(f"Ambiguous dispatch: {found} or {kind}")
                break
            if kind in self._registry:
                found = kind
        return self._registry[found]

    @property
    def registry(self) -> Any:
        """The implementations, by type."""
        return types.MappingProxyType(self._registry)

    def register(self, cls: Any, func: Any = None) -> Any:
        """Like the library's; an annotation must be a type, not text."""
        if isinstance(cls, type) or type(cls) is types.UnionType:
            if func is None:
                return functools.partial(self.register, cls)
        else:
            if func is not None or not guards.is_guest_function(cls):
                raise TypeError("register() takes a class, or a function with annotations")
            func = cls
            annotations = func.__annotations__
            if not annotations:
                raise TypeError(f"{func!r} has no annotated first argument")
            cls = next(iter(annotations.values()))
            if type(cls) is str:
                raise TypeError("[BJ502] text annotations are not evaluated; use register(cls)")
        kinds = cls.__args__ if type(cls) is types.UnionType else (cls,)
        for kind in kinds:
            mro_of(kind)  # TypeError for what is no class
            self._registry[kind] = func
        return func


def _is_subclass(cls: Any, kind: Any) -> bool:
    return issubclass(cls, kind)


def singledispatch(func: Any) -> Any:
    """functools.singledispatch that never evaluates annotations."""
    return _SingleDispatch(func)


class singledispatchmethod:  # noqa: N801 (the library's name)
    """functools.singledispatchmethod on the singledispatch above."""

    __slots__ = ("_dispatch", "_function")

    def __init__(self, func: Any) -> None:
        self._function = func
        self._dispatch = _SingleDispatch(func)

    def register(self, cls: Any, method: Any = None) -> Any:
        """Like singledispatch's."""
        if method is None and not isinstance(cls, type):
            annotations = dict(getattr(cls, "__annotations__", {}))
            annotations.pop("return", None)
            kind = next(iter(annotations.values()), None)
            if isinstance(kind, type) or type(kind) is types.UnionType:
                return self._dispatch.register(kind, cls)
        return self._dispatch.register(cls, method)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        def method(*args: Any, **kwargs: Any) -> Any:
            if not args:
                raise TypeError("a singledispatchmethod needs at least 1 positional argument")
            found = self._dispatch.dispatch(type(args[0]))
            if guards.is_guest_function(found) or type(found) is types.FunctionType:
                return found(owner if instance is None else instance, *args, **kwargs)
            return found.__get__(instance, owner)(*args, **kwargs)

        return method


# --- changes to the library's own classes ---------------------------------------------------------


_library_update_wrapper = functools.update_wrapper
_KEPT_DICTS = (
    types.FunctionType,
    types.MethodType,
    functools.partial,
    functools._lru_cache_wrapper,  # type: ignore[attr-defined]
)


def _library_wrapper(
    wrapper: Any,
    wrapped: Any,
    assigned: Any = functools.WRAPPER_ASSIGNMENTS,
    updated: Any = functools.WRAPPER_UPDATES,
) -> Any:
    # lru_cache(C) and contextmanager(C) would expose the raw descriptors of the class C under their
    # public names: a classmethod without its class, a writable property.
    is_own = guards.is_guest_class(wrapped) or guards.is_guest_class(type(wrapped))
    if type(wrapped) not in _KEPT_DICTS and not is_own:
        updated = ()
    return _library_update_wrapper(wrapper, wrapped, assigned, updated)


def _reduce_cached_property() -> None:
    cached: Any = functools.cached_property
    get, init, set_name = cached.__get__, cached.__init__, cached.__set_name__

    def __get__(self: Any, instance: Any, owner: Any = None) -> Any:  # noqa: N807
        # Called through another descriptor, it would read and write any object's __dict__.
        if instance is not None and not any(
            found is self for base in mro_of(type(instance)) for found in dict_of(base).values()
        ):
            raise TypeError("[BJ502] a cached_property only works on instances of its class")
        return get(self, instance, owner)

    def __init__(self: Any, func: Any) -> None:  # noqa: N807
        _need_cached_property(self)
        if "func" in self.__dict__:
            raise TypeError("[BJ305] this cached_property may not be changed")
        init(self, func)

    def __set_name__(self: Any, owner: Any, name: Any) -> None:  # noqa: N807
        _need_cached_property(self)
        set_name(self, owner, name)

    cached.func = _ShownFunction()
    for method in (__get__, __init__, __set_name__):
        setattr(cached, method.__name__, method)
        method.__module__, method.__qualname__ = (
            "functools",
            f"cached_property.{method.__name__}",
        )


class _ShownFunction:
    """cached_property.func: of a property of the library only functools may have it, since the
    function takes any object for `self`."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None or "func" not in instance.__dict__:
            raise AttributeError("func")
        found = instance.__dict__["func"]
        is_own = type(found) is not types.FunctionType or guards.is_guest_function(found)
        if is_own or sys._getframe(1).f_globals is functools.__dict__:
            return found
        raise AttributeError(
            "[BJ301] attribute 'func' of this 'cached_property' object belongs to the library"
        )

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__["func"] = value


def _need_cached_property(value: Any) -> None:
    if type(value) is not functools.cached_property:
        raise TypeError("a cached_property is needed")


def reduce() -> None:
    """Zygote, before the freeze: wrappers only copy functions, cached_property checks instances."""
    library: Any = functools
    for name in _COPIED:
        setattr(_library_wrapper, name, getattr(_library_update_wrapper, name))
    library.update_wrapper = _library_wrapper
    for methods in library._convert.values():  # total_ordering() does it, to functions of its own
        for name, method in methods:
            method.__name__ = name
    _reduce_cached_property()
