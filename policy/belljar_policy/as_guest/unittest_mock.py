"""The part of unittest.mock that is ours. Not imported: see library/unittest_mock.py.

It runs first, in the namespace in which the library's own mock.py runs afterwards, without its
imports and without what is defined here. All of it is code of the program: it is checked by the
policy and can do what any program can. The functions that a program does not have begin with
`host_` and come from library/unittest_mock.py.
"""
# ruff: noqa: F401, F821, B004, UP031 (names of the host and for the library's mock.py; its ways)

import contextlib
import inspect as _inspect
import io
import pprint
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from types import MethodType, ModuleType, SimpleNamespace

_setattr = setattr
_delattr = delattr


# --- in place of what the library imports ---------------------------------------------------------


class CodeType:
    """The spec of AsyncMock().__code__."""

    def __init__(self, *args):
        pass


def _unwrap(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _isdatadescriptor(value):
    if isinstance(value, type) or isinstance(value, FunctionTypes):
        return False
    return host_is_data_descriptor(value)


# A program cannot look an attribute up without triggering its code; nor did the library before
# CPython 3.13.
inspect = SimpleNamespace(
    signature=_inspect.signature,
    isawaitable=_inspect.isawaitable,
    iscoroutinefunction=_inspect.iscoroutinefunction,
    isdatadescriptor=_isdatadescriptor,
    getattr_static=getattr,
    unwrap=_unwrap,
)
iscoroutinefunction = _inspect.iscoroutinefunction
asyncio = SimpleNamespace(coroutines=SimpleNamespace(_is_coroutine=host_is_coroutine))
Format = SimpleNamespace(FORWARDREF=3)  # since 3.14, of annotationlib
RLock = contextlib.nullcontext
threading = None  # only ThreadingMock uses it, which is not exported
# For an exit stack that is left because of an exception: what the exception is makes no difference.
sys = SimpleNamespace(exc_info=lambda: (None, None, None))


def safe_repr(obj, short=False):
    """unittest.util.safe_repr."""
    try:
        result = repr(obj)
    except Exception:
        result = object.__repr__(obj)
    if not short or len(result) < 80:
        return result
    return result[:80] + " [truncated]..."


def _resolve_name(name):
    """pkgutil.resolve_name, with the program's own import."""
    module_name, *rest = name.split(".")
    result = host_find_module(module_name)
    while rest:
        try:
            result = host_find_module(f"{module_name}.{rest[0]}")
        except ImportError:
            break
        module_name = f"{module_name}.{rest.pop(0)}"
    for part in rest:
        result = getattr(result, part)
    return result


pkgutil = SimpleNamespace(resolve_name=_resolve_name)

# `patch` may create these in a module, and what the library's module has and the profile withholds:
# a test patches open() so that there need be no files, and os.kill() so that nothing is killed.
_builtins = host_builtin_names

# What mock_open() gives a file and a function: files are not in every profile.
file_spec = host_file_names
open_spec = host_open_names


# --- where modules and library classes are patched ------------------------------------------------


def setattr(target, name, value):
    """setattr(), also for a module as the program sees it."""
    if type(target) is ModuleType:
        host_patch_module(target, name, value)
        return
    try:
        _setattr(target, name, value)
    except (AttributeError, TypeError) as error:
        if host_patch_class(target, name, value):
            return
        raise _explained(error, target, name) from None


def delattr(target, name):
    """delattr(), also for a module as the program sees it."""
    if type(target) is ModuleType:
        host_patch_module(target, name)
        return
    try:
        _delattr(target, name)
    except (AttributeError, TypeError) as error:
        if host_patch_class(target, name):
            return
        raise _explained(error, target, name) from None


def _explained(error, target, name):
    """The same error, or what to patch instead of a class of the library."""
    if not isinstance(target, type) or not str(error).startswith("[BJ"):
        return error
    return AttributeError(
        f"[BJ305] {name!r} of the library's class {target.__name__!r} may not be patched; patch "
        f"the name that the program has for the class: patch('__main__.{target.__name__}')"
    )


def _child_call(name):
    """The attribute of a call that is the call of that name, below it."""
    return property(lambda self: type(self).__getattr__(self, name))


def _itself(self, memo=None):
    """The copy of a sentinel; the library's say so to pickle."""
    return self


def _get_original(self):
    """_patch.get_original(): what a module exports counts as its own."""
    target = self.getter()
    name = self.attribute
    original = DEFAULT
    local = False
    if type(target) is ModuleType:
        original = getattr(target, name, DEFAULT)
        local = original is not DEFAULT
    else:
        try:
            original = target.__dict__[name]
        except (AttributeError, KeyError):
            original = getattr(target, name, DEFAULT)
        else:
            local = True
    if type(target) is ModuleType and (name in _builtins or host_is_withheld(target, name)):
        self.create = True
    if not self.create and original is DEFAULT:
        raise AttributeError("%s does not have the attribute %r" % (target, name))
    return original, local


def _callable(obj):
    if isinstance(obj, (staticmethod, classmethod)):
        return callable(getattr(obj, "__func__", _callable))  # a library's is not shown
    return isinstance(obj, type) or getattr(obj, "__call__", None) is not None


def _instance_callable(obj):
    if not isinstance(obj, type):
        return getattr(obj, "__call__", None) is not None
    return any(host_kind_of(base, "__call__") not in (None, type(None)) for base in obj.__mro__)


def _must_skip(spec, entry, is_type):
    """Whether the signature of spec's `entry` has a first argument that no caller passes."""
    if not isinstance(spec, type):
        if entry in getattr(spec, "__dict__", {}):
            return False
        spec = spec.__class__
    for klass in spec.__mro__:
        kind = host_kind_of(klass, entry)
        if kind is not None:
            return is_type and kind in FunctionTypes
    return is_type


def _decorate_class(self, klass):
    """_patch_dict.decorate_class(), without loading what it does not decorate."""
    for attr in dir(klass):
        if attr.startswith(patch.TEST_PREFIX):
            value = getattr(klass, attr)
            if hasattr(value, "__call__"):
                setattr(klass, attr, _patch_dict(self.in_dict, self.values, self.clear)(value))
    return klass


# --- functions that the library makes from text or code objects -----------------------------------


def _dress(function, original, sig):
    name = original.__name__
    function.__name__ = function.__qualname__ = name if name.isidentifier() else "funcopy"
    if isinstance(original, FunctionTypes):
        function.__wrapped__ = original  # for inspect.signature(), which reads no __signature__


def _check_of(func, sig):
    def checksig(*args, **kwargs):
        sig.bind(*args, **kwargs)

    _copy_func_details(func, checksig)
    return checksig


def _set_signature(mock, original, instance=False):
    result = _get_signature_object(original, instance, isinstance(original, type))
    if result is None:
        return mock
    func, sig = result
    check = _check_of(func, sig)

    def funcopy(*args, **kwargs):
        check(*args, **kwargs)
        return mock(*args, **kwargs)

    _dress(funcopy, original, sig)
    _setup_func(funcopy, mock, sig)
    return funcopy


def _set_async_signature(mock, original, instance=False, is_async_mock=False):
    func, sig = _get_signature_object(original, instance, isinstance(original, type))
    check = _check_of(func, sig)

    async def funcopy(*args, **kwargs):
        check(*args, **kwargs)
        return await mock(*args, **kwargs)

    _dress(funcopy, original, sig)
    _setup_func(funcopy, mock, sig)
    _setup_async_mock(funcopy)
    return funcopy


def _is_async_func(func):
    return isinstance(func, FunctionTypes) and iscoroutinefunction(func)
