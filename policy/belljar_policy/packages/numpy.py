"""numpy: imports of its C code on first use, messages about missing files, and no access to memory
addresses.
"""

from __future__ import annotations

import importlib
import operator
import types
from collections.abc import Callable
from typing import Any

import _belljar_guards as guards

from .. import lookout
from . import by_name

_NO_ADDRESSES = (
    "[BJ502] pointers are not available; use a[...], a.view() or memoryview(a) for an array's "
    "memory"
)


def _explain_missing_files() -> None:
    """loadtxt() and genfromtxt() check whether a file exists before they open it."""
    source = importlib.import_module("numpy.lib._datasource").DataSource
    find = source._findfile

    def _findfile(self: Any, path: Any) -> Any:
        found = find(self, path)
        if found is None:
            lookout.need_files()
        return found

    source._findfile = _findfile


def _only_its_own_help() -> None:
    """info("name", toplevel="m") would import the module to search it for the name."""
    module: Any = importlib.import_module("numpy.lib._utils_impl")
    make_namedict = module._makenamedict

    def make_own(module: Any = "numpy") -> Any:
        if type(module) is not str or module != "numpy":
            by_name.refuse("info() only knows names of numpy")
        return make_namedict(module)

    module._makenamedict = make_own


def _unless_watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """For the host, before a program runs, and with the policy off (--policy off)."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if lookout.watches():
            raise PermissionError(_NO_ADDRESSES)
        return function(*args, **kwargs)

    return call


def _close_pointers(numpy: Any) -> None:
    """ctypes objects: their classes can create objects and functions at any address."""
    pointers = importlib.import_module("numpy._core._internal")._ctypes
    for name in ("data_as", "shape_as", "strides_as"):
        setattr(pointers, name, _unless_watched(vars(pointers)[name]))
    pointers._as_parameter_ = property(_unless_watched(vars(pointers)["_as_parameter_"].__get__))
    begin_whole = pointers.__init__

    def begin(self: Any, array: Any, ptr: Any = None) -> None:
        if not lookout.watches():
            begin_whole(self, array, ptr)
        self._arr, self._address, self._zerod = array, ptr, array.ndim == 0

    pointers.__init__ = begin
    pointers.data = property(lambda self: self._address)
    pointers.shape = property(lambda self: self._arr.shape)
    pointers.strides = property(lambda self: self._arr.strides)
    for name in ("BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"):
        generator = getattr(numpy.random, name)
        for way in ("ctypes", "cffi"):
            if way in vars(generator):
                get = vars(generator)[way].__get__
                guards.replace_attribute(generator, way, property(_unless_watched(get)))


def _reach(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> tuple[int, int]:
    """The byte range of an array with items of `size`, relative to its first item: [low, high)."""
    if 0 in shape:
        return 0, 0
    steps = [stride * (count - 1) for count, stride in zip(shape, strides, strict=True)]
    return sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps) + size


def _checked_strides(ndarray: Any, array: Any, unchecked: Callable[..., Any]) -> Callable[..., Any]:
    """as_strided with bounds checks: sliding_window_view and other functions call it with values
    that they read from an array, which a guest's subclass can forge.
    """
    # From the class, so that attributes of a subclass do not shadow them.
    own = {name: vars(ndarray)[name] for name in ("shape", "strides", "itemsize", "base")}
    interface = vars(ndarray)["__array_interface__"]

    def said(name: str, owner: Any) -> Any:
        return own[name].__get__(owner)

    def memory(owner: Any, shape: Any, strides: Any) -> tuple[int, int]:
        start = interface.__get__(owner)["data"][0]
        low, high = _reach(shape, strides, said("itemsize", owner))
        return start + low, start + high

    def as_strided(x: Any, shape: Any, strides: Any, subok: Any, writeable: Any) -> Any:
        if not lookout.watches():
            return unchecked(x, shape, strides, subok, writeable)
        x = array(x, copy=None, subok=subok)
        shape = said("shape", x) if shape is None else tuple(map(operator.index, shape))
        strides = said("strides", x) if strides is None else tuple(map(operator.index, strides))
        owner = x
        while issubclass(type(base := said("base", owner)), ndarray):
            owner = base
        low, high = memory(x, shape, strides)
        least, most = memory(owner, said("shape", owner), said("strides", owner))
        if low < high and not least <= low <= high <= most:
            raise PermissionError("[BJ502] the view would reach past the end of the array")
        return unchecked(x, shape, strides, subok, writeable)

    return as_strided


def _to_checked(x, shape=None, strides=None, subok=False, writeable=True):  # type: ignore[no-untyped-def]
    return _belljar_as_strided(x, shape, strides, subok, writeable)  # type: ignore[name-defined]  # noqa: F821


def _check_strides(numpy: Any) -> None:
    module = importlib.import_module("numpy.lib._stride_tricks_impl")
    function = module.as_strided
    code = function.__code__
    unchecked = types.FunctionType(code, vars(module), "as_strided", function.__defaults__)
    module._belljar_as_strided = _checked_strides(numpy.ndarray, numpy.array, unchecked)
    function.__code__ = _to_checked.__code__  # whoever has the function already
    guards.trust_views(module.DummyArray, code)


def adapt() -> None:
    numpy = importlib.import_module("numpy")
    _explain_missing_files()
    _only_its_own_help()
    guards.guard_arrays(numpy.ndarray, numpy.generic, numpy.dtype)
    _close_pointers(numpy)
    _check_strides(numpy)
    for name in ("_core._methods", "_core._dtype", "_core._internal", "_core._exceptions",
                 "_core.arrayprint", "_core.tests._natype", "ma", "random", "fft", "polynomial",
                 "strings", "rec", "char"):  # fmt: skip
        try:
            importlib.import_module(f"numpy.{name}")
        except ImportError:
            continue
    # Runs what nearly every program does once: fills caches and specialises bytecode.
    values = numpy.arange(12.0).reshape(3, 4)
    str((values @ values.T).sum(axis=0).mean().item())
    repr(values)
    numpy.linalg.inv(numpy.eye(2))
